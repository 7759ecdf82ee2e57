// A FlowSchema, compiled: its priority level, its response headers, and the queues of each of its flows by shuffle sharding.

import { createHash } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { FlowRequest } from '../request.js'
import type { FlowCounter } from './flow-counters.js'
import type { FlowSchemaConfig } from './flow-schema-config.js'
import type { PriorityLevel } from './priority-level.js'

/** Default matchingPrecedence; schemas of the cluster's own components are below it. */
const defaultPrecedence = 1000

const maxCachedHands = 4_096
/** Longer distinguishers are not cached: clients choose them. */
const maxCachedCharacters = 256

export class CompiledFlowSchema {
  readonly name: string
  readonly level: PriorityLevel
  readonly counter: FlowCounter
  /** True if all its requests are refused when the event loop lag persists, even without queued requests of their flow. */
  readonly isLowPriority: boolean
  readonly headers: readonly string[]
  readonly #distinguisher: FlowSchemaConfig['distinguisher']
  readonly #hands = new Map<string, readonly number[]>()

  constructor(config: FlowSchemaConfig, { level, counter, identity }: { level: PriorityLevel; counter: FlowCounter; identity: Identity }) {
    this.name = config.name
    this.isLowPriority = config.precedence >= defaultPrecedence
    this.level = level
    this.counter = counter
    this.#distinguisher = config.distinguisher
    const brand = identity.self[0]?.toUpperCase() + identity.self.slice(1)
    this.headers = [`X-${brand}-PF-FlowSchema-UID`, config.uid, `X-${brand}-PF-PriorityLevel-UID`, level.uid]
  }

  distinguisherOf({ user, info }: Pick<FlowRequest, 'user' | 'info'>): string {
    if (this.#distinguisher === 'ByUser') return user.name
    return this.#distinguisher === 'ByNamespace' ? info.namespace : ''
  }

  /** Returns the hand of a flow: the indexes of the queues that its requests may wait in. */
  handOf(distinguisher: string): readonly number[] {
    const queuing = this.level.limited?.queuing
    if (queuing === undefined) return firstQueue
    const known = this.#hands.get(distinguisher)
    if (known !== undefined) return known
    const hand = dealHand(flowHash(this.name, distinguisher), { deckSize: queuing.queues, handSize: queuing.handSize })
    if (distinguisher.length > maxCachedCharacters) return hand
    if (this.#hands.size >= maxCachedHands) this.#hands.clear()
    // A substring would keep the whole request path in memory.
    this.#hands.set(Buffer.from(distinguisher).toString(), hand)
    return hand
  }
}

const firstQueue: readonly number[] = [0]

export function flowHash(schema: string, distinguisher: string): bigint {
  const digest = createHash('sha256').update(schema).update('\0').update(distinguisher).digest()
  return digest.readBigUInt64LE(0)
}

/** Shuffle sharding: derives `handSize` different queue indexes below `deckSize` from a hash. */
export function dealHand(
  hash: bigint,
  { deckSize, handSize }: { readonly deckSize: number; readonly handSize: number },
): readonly number[] {
  const hand: number[] = []
  let rest = hash
  for (let i = 0; i < handSize && i < deckSize; i++) {
    const left = BigInt(deckSize - i)
    let index = Number(rest % left)
    rest /= left
    for (const dealt of [...hand].sort((a, b) => a - b)) if (dealt <= index) index++
    hand.push(index)
  }
  return hand
}
