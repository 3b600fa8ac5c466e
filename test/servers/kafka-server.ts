// Starts a real Kafka broker in KRaft mode from the jars that test/setup.sh fetched, and writes the scripts of Kafka's
// archive that the jars lack: each calls the class that the archive's own script calls.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Admin, Kafka, logLevel } from 'kafkajs'
import {
  findProgram,
  freePort,
  missingPrograms,
  serverBin,
  serverDirectory,
  startServer,
  testPath,
  versionDirectories,
  waitFor,
  waitForServer,
} from '../support/servers.ts'
import type { RunningServer } from './conformance.ts'

/** No letters beyond ASCII: Java reads properties files as Latin-1. */
const PASSWORD = 'p:@/ "\\%41;='
const jars = versionDirectories(join(serverBin, '..', 'jars', 'kafka'), '')[0]

export const missingKafka = missingPrograms({ 'kafka jars': jars, java: findProgram('java') })

const CLASSES = {
  'kafka-topics': 'org.apache.kafka.tools.TopicCommand',
  'kafka-consumer-groups': 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand',
  'kafka-console-producer': 'org.apache.kafka.tools.ConsoleProducer',
}

const LOGGING = `rootLogger.level = WARN
rootLogger.appenderRef.e.ref = e
appender.e.type = Console
appender.e.name = e
appender.e.target = SYSTEM_ERR
appender.e.layout.type = PatternLayout
appender.e.layout.pattern = [%d] %p %m (%c)%n
`

export interface KafkaServer extends RunningServer {
  admin: Admin
  kafka: Kafka
}

export async function startKafka(): Promise<KafkaServer> {
  const directory = serverDirectory()
  const [port, controller] = [await freePort(), await freePort()]
  const address = `127.0.0.1:${port}`
  const logging = join(directory, 'log4j2.properties')
  const properties = join(directory, 'server.properties')
  const bin = join(directory, 'bin')
  const java = [
    findProgram('java') ?? '',
    '-Xmx256m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    `-Dlog4j2.configurationFile=${logging}`,
    '-cp',
    `${jars}/*`,
  ]
  const jaas = `"${PASSWORD.replace(/[\\"]/g, '\\$&')}"`.replaceAll('\\', '\\\\')
  writeFileSync(logging, LOGGING)
  writeFileSync(
    properties,
    [
      'process.roles=broker,controller',
      'node.id=1',
      `controller.quorum.bootstrap.servers=127.0.0.1:${controller}`,
      `listeners=SASL_PLAINTEXT://${address},CONTROLLER://127.0.0.1:${controller}`,
      `advertised.listeners=SASL_PLAINTEXT://${address}`,
      'controller.listener.names=CONTROLLER',
      'listener.security.protocol.map=SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name=SASL_PLAINTEXT',
      'sasl.mechanism.inter.broker.protocol=PLAIN',
      'sasl.enabled.mechanisms=PLAIN',
      `listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="penv" password=${jaas} user_penv=${jaas};`,
      'offsets.topic.num.partitions=1',
      'offsets.topic.replication.factor=1',
      'group.initial.rebalance.delay.ms=0',
      `log.dirs=${join(directory, 'data')}`,
      '',
    ].join('\n'),
  )
  mkdirSync(bin)
  for (const [script, main] of Object.entries(CLASSES)) {
    const file = join(bin, `${script}.sh`)
    writeFileSync(file, `#!/bin/sh\nexec ${java.map(word => `'${word}'`).join(' ')} ${main} "$@"\n`)
    chmodSync(file, 0o755)
  }
  const [program = '', ...options] = java
  const cluster = Buffer.alloc(16, 1).toString('base64url')
  const format = startServer(
    program,
    [...options, 'kafka.tools.StorageTool', 'format', '--standalone', '-t', cluster, '-c', properties],
    { directory },
  )
  await waitFor('the format of the storage', () => format.hasExited())
  const broker = startServer(program, [...options, 'kafka.Kafka', properties], { directory })
  const kafka = new Kafka({
    brokers: [address],
    sasl: { mechanism: 'plain', username: 'penv', password: PASSWORD },
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, retries: 4 },
  })
  const admin = kafka.admin()
  await waitForServer(broker, 'kafka', async () => {
    try {
      await admin.connect()
      await admin.listTopics()
      return true
    } catch {
      return false
    }
  })
  return {
    version: basename(jars ?? ''),
    address,
    admin,
    kafka,
    env: {
      PATH: `${bin}:${testPath}`,
      KAFKA_BOOTSTRAP_SERVERS: address,
      KAFKA_SASL_USERNAME: 'penv',
      KAFKA_SASL_PASSWORD: PASSWORD,
    },
    password: PASSWORD,
    wrongEnv: { KAFKA_SASL_PASSWORD: 'not-the-one' },
    async stop() {
      await admin.disconnect()
      await broker.stop()
    },
  }
}

export async function makeTopic({ admin }: KafkaServer, topic: string): Promise<void> {
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true })
}

export async function send(server: KafkaServer, topic: string, value: string): Promise<void> {
  if (!(await server.admin.listTopics()).includes(topic)) await makeTopic(server, topic)
  const producer = server.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: [{ value }] })
  await producer.disconnect()
}

/** The newest value of a topic, undefined where there is none. */
export async function newest(server: KafkaServer, topic: string): Promise<string | undefined> {
  if (!(await server.admin.listTopics()).includes(topic)) return undefined
  // A client of its own: one that has asked about a topic fails on everything once that topic is gone.
  const asker = server.kafka.admin()
  await asker.connect()
  const [offsets] = await asker.fetchTopicOffsets(topic)
  await asker.disconnect()
  const end = Number(offsets?.high ?? 0)
  if (end === 0) return undefined
  const groupId = 'console-consumer-test'
  const consumer = server.kafka.consumer({ groupId, allowAutoTopicCreation: false })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const value = await new Promise<string | undefined>(resolve => {
    void consumer.run({
      eachMessage: async ({ message }) => {
        if (Number(message.offset) === end - 1) resolve(message.value?.toString())
      },
    })
  })
  await consumer.disconnect()
  await server.admin.deleteGroups([groupId])
  return value
}

/** A consumer that is connected; resolves with its end. */
export async function consume(
  { kafka }: KafkaServer,
  groupId: string,
  topic: string,
  allowAutoTopicCreation: boolean,
): Promise<() => Promise<void>> {
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation, metadataMaxAge: 500 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const joined = new Promise<void>(resolve => {
    consumer.on('consumer.group_join', () => resolve())
  })
  await consumer.run({ eachMessage: async () => {} })
  await joined
  return () => consumer.disconnect()
}
