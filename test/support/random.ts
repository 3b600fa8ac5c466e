// Random numbers that can be had again: the seed is printed, and PENV_TEST_SEED sets it.

/** Numbers from 0 up to 1, from a seed (mulberry32). */
export function makeRandom(what: string): () => number {
  const seed = Number(process.env.PENV_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`${what}: PENV_TEST_SEED=${seed}\n`)
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
