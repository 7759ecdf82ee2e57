// Services that come and go at all servers, out of a range with room for few: no address is ever had by two, and none is lost.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../kit/api-client.js'
import type { Wire } from '../kit/wire.js'
import type { Replica } from './replica.js'
import { type WorkerInput, whyOf } from './worker.js'

/** Fourteen addresses, of which the API's own service has the first. */
export const addressFlag = '--service-cluster-ip-range=10.0.0.0/28'
const room = 13
const settleMs = 60_000
const path = '/api/v1/namespaces/robust/services'
const names = Array.from({ length: room + 3 }, (_, i) => `s${i}`)
const service = (name: string) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } })
const addressOf = (wire: Wire): string => (wire['spec'] as { readonly clusterIP?: string } | undefined)?.clusterIP ?? ''

interface Asking {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
}

export class Addresses {
  readonly problems: string[] = []
  made = 0
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
      if (chance < 0.45) await this.#make(replica, name)
      else if (chance < 0.8) await this.#ask(replica, { method: 'DELETE', path: `${path}/${name}` })
      else this.#check(await this.#ask(replica, { path }))
      await sleep(random.below(60))
    }
  }

  /** When all is well: everything is given back, and the range can be filled again to its last address. */
  async finish(replica: Replica): Promise<void> {
    this.#check(await this.#askPatiently(replica, { path }))
    for (const name of names) await this.#askPatiently(replica, { method: 'DELETE', path: `${path}/${name}` })
    for (const name of names) await this.#askPatiently(replica, { method: 'POST', path, body: service(name) })
    const left = await this.#askPatiently(replica, { path })
    this.#check(left)
    const count = left?.status === 200 ? left.json.items.length : 0
    if (count !== room) this.problems.push(`${count} services could be made where there is room for ${room}`)
  }

  async #make(replica: Replica, name: string): Promise<void> {
    const answer = await this.#ask(replica, { method: 'POST', path, body: service(name) })
    if (answer?.status === 201) this.made += 1
  }

  #check(answer: Answer | undefined): void {
    if (answer?.status !== 200) return
    const owners = new Map<string, string>()
    for (const item of answer.json.items) {
      const address = addressOf(item)
      const other = owners.get(address)
      if (other !== undefined)
        this.problems.push(`${other} and ${item.metadata.name} both have ${address} at revision ${answer.json.metadata.resourceVersion}`)
      owners.set(address, item.metadata.name)
    }
  }

  /** Until it was answered: what a slow machine does not answer in time says nothing of addresses. */
  async #askPatiently(replica: Replica, sending: Asking): Promise<Answer | undefined> {
    const untilMs = performance.now() + settleMs
    for (;;) {
      const answer = await this.#ask(replica, sending)
      const isAnswered = answer !== undefined && ![429, 503, 504].includes(answer.status)
      if (isAnswered || performance.now() > untilMs) return answer
      await sleep(50)
    }
  }

  #ask({ client }: Replica, sending: Asking): Promise<Answer | undefined> {
    if (client === undefined) return Promise.resolve(undefined)
    return client.send({ ...sending, signal: AbortSignal.timeout(6000) }).catch((error: unknown) => {
      this.#input.recorder.trouble(`service: ${whyOf(error)}`)
      return undefined
    })
  }
}
