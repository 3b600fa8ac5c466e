// Sorts services by how far they can be isolated: 0 files and ports, 1 a slice of a shared server, 2 not safely.
import type { Service } from './services.ts'

export type Tier = 0 | 1 | 2

export interface Tiering {
  readonly tier: Tier
  readonly reason: string
}

const BY_KIND: Readonly<Record<Service['kind'], Tiering>> = {
  sqlite: { tier: 0, reason: 'a file of its own for each environment' },
  mail: { tier: 0, reason: 'holds nothing that an app reads back: a port of its own, or one inbox for all' },
  postgres: { tier: 1, reason: 'a database of its own' },
  mysql: { tier: 1, reason: 'a database of its own' },
  mongodb: { tier: 1, reason: 'a database of its own' },
  clickhouse: { tier: 1, reason: 'a database of its own' },
  redis: { tier: 1, reason: 'a numbered database of its own' },
  rabbitmq: { tier: 1, reason: 'a virtual host of its own' },
  kafka: {
    tier: 1,
    reason: 'a prefix for topics and consumer groups, which the app must read from its settings',
  },
  nats: { tier: 1, reason: 'a prefix for subjects, which the app must read from its settings' },
  s3: { tier: 1, reason: 'a bucket of its own' },
  elasticsearch: { tier: 1, reason: 'a prefix for indexes' },
  qdrant: { tier: 1, reason: 'a prefix for collections' },
  memcached: {
    tier: 2,
    reason: 'one space of keys for all that are connected, and no way to flush a part of it',
  },
  unknown: { tier: 2, reason: 'no known way to give each environment a part of it' },
}

export function tierOfService(service: Service): Tiering {
  if (service.kind === 'redis' && /redis-cluster|valkey-cluster/.test(service.image ?? ''))
    return { tier: 2, reason: 'in cluster mode only database 0 exists' }
  return BY_KIND[service.kind]
}

/** The highest tier among the services that a default run needs. */
export function tierOfAll(services: readonly Service[]): Tiering {
  let overall: Tiering = { tier: 0, reason: 'no server is needed: files and ports' }
  for (const service of services) {
    const { tier, reason } = tierOfService(service)
    if (service.need === 'required' && tier > overall.tier)
      overall = { tier, reason: `${service.name}: ${reason}` }
  }
  return overall
}
