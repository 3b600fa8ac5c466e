// Says which server a compose service is: by its image, by what its Dockerfile starts from, or by its variables.
import type { ComposeBuild, ComposeEntry } from './compose-fields.ts'
import type { RepoFacts } from './facts.ts'
import { type ImageIdentity, identifyImage } from './images.ts'
import { interpolate } from './interpolate.ts'

interface Described {
  readonly image: string | undefined
  readonly build: ComposeBuild | undefined
  readonly environment: readonly ComposeEntry[]
}

/** By image; where the image is built, by what its Dockerfile starts from; else by the variables it is given. */
export function identifyService(facts: RepoFacts, service: Described): ImageIdentity | undefined {
  const fromBuild = service.build === undefined ? undefined : identifyDockerfile(facts, service.build)
  if (fromBuild !== undefined) return fromBuild
  if (service.image !== undefined && service.build === undefined) return identifyImage(service.image)
  if (service.build !== undefined) return undefined
  const has = (pattern: RegExp) => service.environment.some(entry => pattern.test(entry.key))
  if (has(/^POSTGRES_PASSWORD$|^POSTGRESQL_PASSWORD$/)) return { kind: 'postgres', product: 'postgres' }
  if (has(/^(MYSQL|MARIADB)_(ROOT_PASSWORD|ALLOW_EMPTY_PASSWORD)$/))
    return { kind: 'mysql', product: 'mysql' }
  if (has(/^MONGO_INITDB_/)) return { kind: 'mongodb', product: 'mongodb' }
  if (has(/^RABBITMQ_DEFAULT_/)) return { kind: 'rabbitmq', product: 'rabbitmq' }
  if (has(/^MINIO_ROOT_/)) return { kind: 's3', product: 'minio' }
  return undefined
}

/** What the last stage of a Dockerfile starts from. */
function identifyDockerfile(facts: RepoFacts, build: ComposeBuild): ImageIdentity | undefined {
  const path = build.context === '' ? build.dockerfile : `${build.context}/${build.dockerfile}`
  const text = build.inline ?? facts.files.get(path)?.text
  if (text === undefined) return undefined
  const args = new Map(
    [...text.matchAll(/^ARG\s+(\w+)=["']?([^\s"']*)/gim)].map(match => [
      match[1] as string,
      match[2] as string,
    ]),
  )
  const stages = [...text.matchAll(/^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)]
  let from = stages.at(-1)?.[1]
  for (let hops = 0; hops < 10; hops++) {
    const stage = stages.find(match => match[2]?.toLowerCase() === from?.toLowerCase())
    if (stage === undefined || stage[1] === from) break
    from = stage[1]
  }
  const started = from === undefined ? undefined : identifyImage(interpolate(from, args).text)
  return started ?? identifyProgram(text)
}

/** A server that is put into a plain image is known by the program that runs: `CMD ["maildev"]`. */
function identifyProgram(dockerfile: string): ImageIdentity | undefined {
  const last = [...dockerfile.matchAll(/^(?:CMD|ENTRYPOINT)\s+(?:\[\s*")?(?:exec\s+)?([\w./-]+)/gim)].at(
    -1,
  )?.[1]
  const name = last?.split('/').at(-1)
  return name === undefined ? undefined : identifyImage(name)
}

/** A shell or a client program. */
const JOB =
  /^(?:(?:\/usr)?\/bin\/)?(?:ba|da|z)?sh\b|\b(?:psql|pg_dump|pg_restore|pg_isready|createdb|mysqladmin|mysqldump|redis-cli|mongosh|mongodump|mongoimport|rabbitmqadmin|kafka-topics(?:\.sh)?|clickhouse-client|mc)\s/

/** Whether a service only borrows a server's image: it waits for such a server, and runs a shell or a client in it. */
export function isClientJob(
  service: {
    readonly command: string
    readonly dependsOn: readonly string[]
    readonly identity: ImageIdentity | undefined
  },
  services: ReadonlyMap<string, { readonly identity: ImageIdentity | undefined }>,
): boolean {
  return (
    service.identity !== undefined &&
    JOB.test(service.command) &&
    service.dependsOn.some(name => services.get(name)?.identity?.product === service.identity?.product)
  )
}
