// The signals that ask penv to stop, heard in place of dying at once, so that what is begun is brought to an end.

import { PenvError } from '../errors.ts'

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** Signals that ask penv to stop; the first one decides its exit code. */
export interface Interrupts {
  first: () => NodeJS.Signals | undefined
  /** Calls back at each further signal too; returns how to stop listening. */
  listen: (onSignal: (signal: NodeJS.Signals) => void) => () => void
  stop: () => void
}

const STOP_SIGNALS = Object.keys(SIGNAL_NUMBERS) as (keyof typeof SIGNAL_NUMBERS)[]

export function listenForInterrupts(): Interrupts {
  let first: NodeJS.Signals | undefined
  const listeners = new Set<(signal: NodeJS.Signals) => void>()
  const receive = (signal: NodeJS.Signals) => {
    first ??= signal
    for (const listener of listeners) listener(signal)
  }
  for (const signal of STOP_SIGNALS) process.on(signal, receive)
  return {
    first: () => first,
    listen: onSignal => {
      listeners.add(onSignal)
      return () => listeners.delete(onSignal)
    },
    stop: () => {
      for (const signal of STOP_SIGNALS) process.off(signal, receive)
    },
  }
}

/** `INTERRUPTED` once a signal has come; `outcome` says what was left how. */
export function throwIfInterrupted(
  interrupts: Interrupts,
  outcome: string,
  details: Readonly<Record<string, unknown>>,
): void {
  const signal = interrupts.first()
  if (signal === undefined) return
  throw new PenvError({
    code: 'INTERRUPTED',
    message: `interrupted by ${signal}; ${outcome}`,
    exit: 128 + SIGNAL_NUMBERS[signal as keyof typeof SIGNAL_NUMBERS],
    details: { ...details, signal },
  })
}
