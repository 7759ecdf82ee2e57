// An informer of our client at every server: after all faults its cache must equal the server.

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

/** Connects to the current address of the server. */
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
    return Promise.reject(new Error('WebSockets are not used here'))
  }

  close(): void {
    this.#inner?.close()
  }
}

const configMapRef = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true }

/** Identifies a version of an object. */
const stateOf = ({ metadata, data }: ConfigMap): string => JSON.stringify([metadata?.uid, metadata?.resourceVersion, data])

export class Informers {
  readonly #members: readonly { readonly replica: Replica; readonly client: Client; readonly informer: Informer<ConfigMap> }[]
  /** State built from the events of the listeners. */
  readonly #received: readonly Map<string, ConfigMap>[]
  readonly problems: string[] = []
  changes = 0

  constructor(replicas: readonly Replica[], namespace: string) {
    this.#members = replicas.map((replica) => {
      const client = new Client({ transport: new ReplicaTransport(replica), retries: 0 })
      const informer = client.collection<ConfigMap>(configMapRef, namespace).inform({
        limit: 3,
        backOff: { firstMs: 20, maxMs: 500 },
        indexes: { group: ({ metadata }) => metadata?.labels?.['group'] },
      })
      return { replica, client, informer }
    })
    this.#received = this.#members.map(({ replica, informer }) => {
      const received = new Map<string, ConfigMap>()
      informer.onChange(({ type, object, old }) => {
        this.changes += 1
        const name = object.metadata?.name ?? ''
        const known = received.get(name)
        if ((type === 'add') !== (known === undefined))
          this.problems.push(`the informer at ${replica.name} emitted ${type} of ${name} out of order`)
        if (type === 'update' && old !== known)
          this.problems.push(`the informer at ${replica.name} emitted an update of ${name} with a wrong old object`)
        if (type === 'delete') received.delete(name)
        else received.set(name, object)
      })
      return received
    })
  }

  /** After healing: the cache, the state of the listeners and the index equal the list of the server. */
  async finish(untilMs: number): Promise<void> {
    for (const [i, { replica, client, informer }] of this.#members.entries()) {
      const list = await client.collection<ConfigMap>(configMapRef, informer.list()[0]?.metadata?.namespace ?? 'robust').list()
      const expected = new Map(list.items.map((item) => [item.metadata?.name ?? '', stateOf(item)]))
      const isSame = (objects: Iterable<ConfigMap>): boolean => {
        const all = [...objects]
        return all.length === expected.size && all.every((item) => expected.get(item.metadata?.name ?? '') === stateOf(item))
      }
      while (!isSame(informer.list()) && performance.now() < untilMs) await sleep(20)
      if (!isSame(informer.list()))
        this.problems.push(
          `the informer at ${replica.name} holds ${informer.list().length} objects, not the ${expected.size} of its server`,
        )
      if (!isSame(this.#received[i]?.values() ?? []))
        this.problems.push(`the listeners of the informer at ${replica.name} have another state`)
      const indexed = informer.store.indexValues('group').flatMap((value) => informer.byIndex('group', value))
      if (!isSame(indexed)) this.problems.push(`the index of the informer at ${replica.name} has other objects`)
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
