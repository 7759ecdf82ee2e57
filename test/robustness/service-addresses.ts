// Clients that create and delete Services in a small address range: no address is used twice, and none is lost.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiResponse } from '../kit/api-client.js'
import type { JsonObject } from '../kit/network/json-object.js'
import type { Replica } from './replica.js'
import { reasonOf, type WorkerInput } from './worker.js'

/** Fourteen addresses, the first of them for the API service. */
export const addressFlag = '--service-cluster-ip-range=10.0.0.0/28'
const freeAddresses = 13
const settleMs = 60_000
const path = '/api/v1/namespaces/robust/services'
const names = Array.from({ length: freeAddresses + 3 }, (_, i) => `s${i}`)
const service = (name: string) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } })
const addressOf = (object: JsonObject): string => (object['spec'] as { readonly clusterIP?: string } | undefined)?.clusterIP ?? ''

interface ServiceRequest {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
}

export class ServiceClients {
  readonly problems: string[] = []
  created = 0
  readonly #input: WorkerInput

  constructor(input: WorkerInput) {
    this.#input = input
  }

  async work(): Promise<void> {
    const { random, recorder, replicas } = this.#input
    while (!recorder.isOver) {
      const replica = random.pick(replicas)
      const chance = random.next()
      const name = random.pick(names)
      if (chance < 0.45) await this.#create(replica, name)
      else if (chance < 0.8) await this.#send(replica, { method: 'DELETE', path: `${path}/${name}` })
      else this.#check(await this.#send(replica, { path }))
      await sleep(random.below(60))
    }
  }

  /** After healing: all addresses are released, and the whole range can be allocated again. */
  async finish(replica: Replica): Promise<void> {
    this.#check(await this.#sendUntilServed(replica, { path }))
    for (const name of names) await this.#sendUntilServed(replica, { method: 'DELETE', path: `${path}/${name}` })
    for (const name of names) await this.#sendUntilServed(replica, { method: 'POST', path, body: service(name) })
    const left = await this.#sendUntilServed(replica, { path })
    this.#check(left)
    const count = left?.status === 200 ? left.json.items.length : 0
    if (count !== freeAddresses) this.problems.push(`${count} services could be created in a range of ${freeAddresses}`)
  }

  async #create(replica: Replica, name: string): Promise<void> {
    const response = await this.#send(replica, { method: 'POST', path, body: service(name) })
    if (response?.status === 201) this.created += 1
  }

  #check(response: ApiResponse | undefined): void {
    if (response?.status !== 200) return
    const owners = new Map<string, string>()
    for (const item of response.json.items) {
      const address = addressOf(item)
      const other = owners.get(address)
      if (other !== undefined)
        this.problems.push(`${other} and ${item.metadata.name} both have ${address} at revision ${response.json.metadata.resourceVersion}`)
      owners.set(address, item.metadata.name)
    }
  }

  /** Retries for up to a minute if there is no response, or one with 429, 503 or 504. */
  async #sendUntilServed(replica: Replica, request: ServiceRequest): Promise<ApiResponse | undefined> {
    const untilMs = performance.now() + settleMs
    for (;;) {
      const response = await this.#send(replica, request)
      const isFinal = response !== undefined && ![429, 503, 504].includes(response.status)
      if (isFinal || performance.now() > untilMs) return response
      await sleep(50)
    }
  }

  #send({ client }: Replica, request: ServiceRequest): Promise<ApiResponse | undefined> {
    if (client === undefined) return Promise.resolve(undefined)
    return client.send({ ...request, signal: AbortSignal.timeout(6000) }).catch((error: unknown) => {
      this.#input.recorder.countProblem(`service: ${reasonOf(error)}`)
      return undefined
    })
  }
}
