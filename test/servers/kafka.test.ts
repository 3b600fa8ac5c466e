// kafka against a real broker: the common promises, and what topics and groups of a prefix need beyond them.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runVerbs } from '../support/adapters.ts'
import { describeServer, testPath, waitFor } from '../support/servers.ts'
import { describeAdapter, type RunningServer } from './conformance.ts'
import {
  consume,
  type KafkaServer,
  makeTopic,
  missingKafka,
  newest,
  send,
  startKafka,
} from './kafka-server.ts'

// Each of the tools is a Java program that takes a second to start, and longer on a busy machine.
vi.setConfig({ testTimeout: 180_000 })

const on = (server: RunningServer) => server as KafkaServer

describeAdapter({
  service: 'kafka',
  aliases: ['redpanda'],
  missing: missingKafka,
  hasPasswordInUrl: false,
  clients: ['kafka-topics.sh', 'kafka-consumer-groups.sh', 'kafka-console-producer.sh'],
  start: startKafka,
  wrongTargets: ['shop', 'preview', 'preview_login_k3v9xa2', 'preview_login_k3v9xa.*', '.*'],
  write: (server, slice, value) => send(on(server), `${slice}-items`, value),
  read: (server, slice) => newest(on(server), `${slice}-items`),
  writeMain: (server, value) => send(on(server), 'items', value),
  readMain: server => newest(on(server), 'items'),
  lookalikes: async server => {
    for (const topic of ['shop-penv', 'app_user_a2b3c4', 'app_user_a2b3c4-items'])
      await makeTopic(on(server), topic)
  },
  hold: (server, slice) => consume(on(server), `${slice}-app`, `${slice}-items`, false),
})

describeServer('kafka prefixes', missingKafka, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`
  let server: KafkaServer
  let data: string

  const run = (script: string, env: Record<string, string> = {}) =>
    runVerbs({ service: 'kafka', script, id, data, env: { ...server.env, ...env } })
  const succeed = async (script: string, env: Record<string, string> = {}) => {
    const result = await run(script, env)
    expect(result, `${script}\n${result.stderr}`).toMatchObject({ code: 0 })
    return result
  }
  const topics = async () => (await server.admin.listTopics()).filter(name => !name.startsWith('__')).sort()
  const groups = async () => (await server.admin.listGroups()).groups.map(group => group.groupId).sort()
  /** A group that has read a topic and left. */
  const readOnce = async (group: string, topic: string) => {
    await server.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '0' }] })
  }

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'penv-kafka-'))
    server = await startKafka()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('drops topics and groups of the prefix, and nothing whose name only starts alike', async () => {
    await succeed(`kafka_create ${slice}`)
    // The dot of our topic, read as a pattern, would stand for the letter of theirs.
    const foreign = [`${slice}xb`, `${slice}2-items`, `${slice}_b_z9y8x7-items`, `x-${slice}`]
    for (const topic of [slice, `${slice}.b`, `${slice}-items`, ...foreign]) await makeTopic(server, topic)
    for (const group of [`${slice}-app`, `${slice}.app`, `${slice}2-app`, 'main-app'])
      await readOnce(group, foreign[0] ?? '')
    const { stderr } = await succeed(`kafka_drop ${slice}`)
    expect(await topics()).toEqual([...foreign].sort())
    expect(await groups()).toEqual(['main-app', `${slice}2-app`].sort())
    expect(stderr).toContain(`${slice}_b_z9y8x7-items`)
    await server.admin.deleteGroups(await groups())
    await server.admin.deleteTopics({ topics: foreign })
  })

  it.each([
    ['of main that reads our topic', 'main-app', `${slice}-items`],
    ['of ours that reads a topic of main', `${slice}-app`, 'items'],
  ])('notices a group %s', async (_title, group, topic) => {
    await succeed(`kafka_create ${slice}`)
    await makeTopic(server, topic)
    await readOnce('console-consumer-1', topic)
    await succeed(`kafka_verify ${slice}`)
    await readOnce(group, topic)
    const { code, stderr } = await run(`kafka_verify ${slice}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain(`${group} -> ${topic}`)
    await server.admin.deleteGroups([group, 'console-consumer-1'])
    await server.admin.deleteTopics({ topics: [topic] })
  })

  it('says so when a connected consumer makes its topic anew, and ends the work once it is gone', async () => {
    await succeed(`kafka_create ${slice}`)
    await send(server, `${slice}-items`, 'one')
    const stop = await consume(server, `${slice}-app`, `${slice}-items`, true)
    const { code, stderr } = await run(`kafka_drop ${slice}`)
    expect(code, stderr).not.toBe(0)
    expect(stderr).toContain(`${slice}-items`)
    expect(stderr).toMatch(/To end it, stop the consumers/)
    await stop()
    await succeed(`kafka_drop ${slice}`)
    expect(await topics()).toEqual([])
    await waitFor('the end of the group', async () => !(await groups()).includes(`${slice}-app`))
  })

  it("takes the login from Kafka's own properties file, and leaves no file behind", async () => {
    const file = join(data, 'client.properties')
    const temporary = join(data, 'tmp')
    mkdirSync(temporary)
    const jaas = `"${server.password.replace(/[\\"]/g, '\\$&')}"`.replaceAll('\\', '\\\\')
    writeFileSync(
      file,
      `security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="penv" password=${jaas};\n`,
      { mode: 0o600 },
    )
    const env = {
      KAFKA_SASL_USERNAME: '',
      KAFKA_SASL_PASSWORD: '',
      KAFKA_COMMAND_CONFIG: file,
      TMPDIR: temporary,
    }
    await succeed(`kafka_create ${slice}\nkafka_verify ${slice}\nkafka_drop ${slice}`, env)
    expect(readdirSync(temporary).filter(name => !name.startsWith('hsperfdata'))).toEqual([])
  })
})

/** Answers as rpk's documentation shows, with topics and groups as files in a directory; not a real rpk. */
const RPK = `#!/bin/sh
cd "$RPK_STATE" || exit 1
[ "$RPK_BROKERS" = broker:9092 ] && [ "$RPK_PASS" = s3cret ] || { echo 'unable to request metadata: SASL_AUTHENTICATION_FAILED: not authorized' >&2; exit 1; }
case "$1 $2" in
  'topic list') echo 'NAME  PARTITIONS  REPLICAS'; for f in topics/*; do [ ! -e "$f" ] || echo "\${f#*/}  1  1"; done ;;
  'topic create') : >"topics/$3"; printf 'TOPIC STATUS\\n%s OK\\n' "$3" ;;
  'topic delete') shift 2; for t; do rm "topics/$t"; done ;;
  'topic produce') cat >"topics/$3"; echo "Produced to partition 0 at offset 0 with timestamp 1." ;;
  'group list') echo 'BROKER  GROUP  STATE'; for f in groups/*; do [ ! -e "$f" ] || echo "0  \${f#*/}  Empty"; done ;;
  'group describe') printf 'GROUP        %s\\nCOORDINATOR  0\\nSTATE        Empty\\nMEMBERS      0\\nTOTAL-LAG    0\\n\\nTOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG\\n%s  0  1  1  0\\n' "$3" "$(cat "groups/$3")" ;;
  'group delete') rm "groups/$3" ;;
  *) exit 2 ;;
esac
`

describeServer('kafka adapter with a stand-in for rpk', undefined, () => {
  const id = 'login_k3v9xa'
  const slice = `preview_${id}`

  it('reads the tables that rpk prints', async () => {
    const data = mkdtempSync(join(tmpdir(), 'penv-rpk-'))
    for (const name of ['bin', 'topics', 'groups']) mkdirSync(join(data, name))
    writeFileSync(join(data, 'bin', 'rpk'), RPK)
    chmodSync(join(data, 'bin', 'rpk'), 0o755)
    const env = {
      PATH: `${join(data, 'bin')}:${testPath}`,
      RPK_STATE: data,
      KAFKA_BROKERS: 'broker:9092',
      KAFKA_SASL_USERNAME: 'penv',
      KAFKA_SASL_PASSWORD: 's3cret',
    }
    const run = (script: string, more: Record<string, string> = {}) =>
      runVerbs({ service: 'redpanda', script, id, data, env: { ...env, ...more } })
    for (const topic of ['items', `${slice}2-items`]) writeFileSync(join(data, 'topics', topic), '')
    writeFileSync(join(data, 'groups', 'main'), 'items')

    const made = await run(
      `redpanda_create ${slice}\nredpanda_create ${slice}\nredpanda_verify ${slice}\nredpanda_list`,
    )
    expect(made, made.stderr).toMatchObject({ code: 0, stdout: `${slice}\n` })
    writeFileSync(join(data, 'groups', `${slice}-app`), 'items')
    expect((await run(`redpanda_verify ${slice}`)).stderr).toContain(`${slice}-app -> items`)
    const refused = await run('redpanda_list', { KAFKA_SASL_PASSWORD: 'other' })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('broker:9092')
    const dropped = await run(`redpanda_drop ${slice}\nredpanda_drop ${slice}`)
    expect(dropped, dropped.stderr).toMatchObject({ code: 0, stdout: '' })
    expect(readdirSync(join(data, 'topics')).sort()).toEqual(['items', `${slice}2-items`].sort())
    expect(readdirSync(join(data, 'groups'))).toEqual(['main'])
    rmSync(data, { recursive: true, force: true })
  })
})
