// An informer of our own client at every server: whatever happens to the servers, in the end it must hold what they hold.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  Client,
  type ConfigMap,
  ConnectionError,
  HttpTransport,
  type Informer,
  type MessageSocket,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from 'cluster-apiserver/client'
import type { ServerProcess } from '../kit/server-process.js'
import type { Replica } from './replica.js'

/** Goes to wherever the server listens now. */
class ReplicaTransport implements Transport {
  readonly #replica: Replica
  #server: ServerProcess | undefined
  #inner: HttpTransport | undefined

  constructor(replica: Replica) {
    this.#replica = replica
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { server } = this.#replica
    if (server === undefined) throw new ConnectionError('the server is down')
    if (server !== this.#server) {
      this.#inner?.close()
      this.#server = server
      this.#inner = new HttpTransport({ server: server.url, tls: { ca: server.access.ca } })
    }
    const { token } = server.access
    return (this.#inner as HttpTransport).send({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
  }

  openSocket(): Promise<MessageSocket> {
    return Promise.reject(new Error('nothing here needs one'))
  }

  close(): void {
    this.#inner?.close()
  }
}

const refOfConfigMaps = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true }

/** What tells two states of an object apart. */
const stateOf = ({ metadata, data }: ConfigMap): string => JSON.stringify([metadata?.uid, metadata?.resourceVersion, data])

export class Informers {
  readonly #members: readonly { readonly replica: Replica; readonly client: Client; readonly informer: Informer<ConfigMap> }[]
  /** What listeners were told of, as they would have kept it. */
  readonly #heard: readonly Map<string, ConfigMap>[]
  readonly problems: string[] = []
  changes = 0

  constructor(replicas: readonly Replica[], namespace: string) {
    this.#members = replicas.map((replica) => {
      const client = new Client({ transport: new ReplicaTransport(replica), retries: 0 })
      const informer = client.collection<ConfigMap>(refOfConfigMaps, namespace).inform({
        limit: 3,
        backOff: { firstMs: 20, mostMs: 500 },
        indexes: { group: ({ metadata }) => metadata?.labels?.['group'] },
      })
      return { replica, client, informer }
    })
    this.#heard = this.#members.map(({ replica, informer }) => {
      const heard = new Map<string, ConfigMap>()
      informer.onChange(({ type, object, old }) => {
        this.changes += 1
        const name = object.metadata?.name ?? ''
        const known = heard.get(name)
        if ((type === 'add') !== (known === undefined))
          this.problems.push(`the informer at ${replica.name} told of an ${type} of ${name} out of turn`)
        if (type === 'update' && old !== known)
          this.problems.push(`the informer at ${replica.name} told of another ${name} before the update`)
        if (type === 'delete') heard.delete(name)
        else heard.set(name, object)
      })
      return heard
    })
  }

  /** When all is well: each holds what its server lists, and so do those who only listened, and the index. */
  async finish(untilMs: number): Promise<void> {
    for (const [i, { replica, client, informer }] of this.#members.entries()) {
      const list = await client.collection<ConfigMap>(refOfConfigMaps, informer.list()[0]?.metadata?.namespace ?? 'robust').list()
      const wanted = new Map(list.items.map((item) => [item.metadata?.name ?? '', stateOf(item)]))
      const isSame = (held: Iterable<ConfigMap>): boolean => {
        const all = [...held]
        return all.length === wanted.size && all.every((item) => wanted.get(item.metadata?.name ?? '') === stateOf(item))
      }
      while (!isSame(informer.list()) && performance.now() < untilMs) await sleep(20)
      if (!isSame(informer.list()))
        this.problems.push(`the informer at ${replica.name} holds ${informer.list().length} objects, not the ${wanted.size} of its server`)
      if (!isSame(this.#heard[i]?.values() ?? []))
        this.problems.push(`those who listen to the informer at ${replica.name} know something else`)
      const indexed = informer.store.indexValues('group').flatMap((value) => informer.byIndex('group', value))
      if (!isSame(indexed)) this.problems.push(`the index of the informer at ${replica.name} has something else`)
    }
  }

  async close(): Promise<void> {
    for (const { informer, client } of this.#members) {
      informer.close()
      await informer.ended.catch((error: unknown) => this.problems.push(`an informer ended: ${String(error)}`))
      client.close()
    }
  }
}
