// Clients that create and delete owners with dependents while servers are killed. In the end no dependent of deleted owners remains,
// and nothing else is deleted.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiResponse } from '../kit/api-client.js'
import type { JsonObject } from '../kit/network/json-object.js'
import type { Replica } from './replica.js'
import { reasonOf, type WorkerInput } from './worker.js'

const path = '/api/v1/namespaces/robust/secrets'
/** A killed leader is replaced when its lease expires. */
const settleMs = 60_000
const policies = ['Background', 'Foreground', 'Orphan'] as const

type Policy = (typeof policies)[number]

export interface Dependent {
  readonly name: string
  /** True if the creation was acknowledged; otherwise the object may exist or not. */
  readonly isAcknowledged: boolean
  /** True if the dependent has another owner, which is not deleted. */
  readonly hasSecondOwner: boolean
}

export interface OwnerSet {
  readonly owner: string
  readonly uid: string
  readonly children: Dependent[]
  /** How the owner was deleted; undefined if it was not. */
  deletion?: { readonly policy: Policy; readonly isAcknowledged: boolean }
}

/** An object at the end. */
export interface Remaining {
  readonly uid: string
  readonly isTerminating: boolean
  readonly owners: readonly string[]
}

/** Objects that remain, are missing, or are still terminating. */
export function findGarbageProblems(ownerSets: readonly OwnerSet[], remaining: ReadonlyMap<string, Remaining>): readonly string[] {
  return ownerSets.flatMap((ownerSet) => findOwnerProblems(ownerSet, remaining))
}

function findOwnerProblems({ owner, uid, children, deletion }: OwnerSet, remaining: ReadonlyMap<string, Remaining>): readonly string[] {
  const remainingOwner = remaining.get(owner)
  if (remainingOwner?.isTerminating) return [`${owner} was deleted (${deletion?.policy}) and is still there`]
  if (deletion?.isAcknowledged && remainingOwner !== undefined) return [`${owner} was deleted (${deletion.policy}) and is still there`]
  if (deletion === undefined && remainingOwner === undefined) return [`${owner} is missing, but was not deleted`]
  return children.flatMap((child) => {
    const found = remaining.get(child.name)
    const subject = `${child.name} of ${owner} (${deletion?.policy ?? 'kept'}${child.hasSecondOwner ? ', with a second owner' : ''})`
    if (found?.isTerminating) return [`${subject} is still terminating`]
    const shouldStay = remainingOwner !== undefined || child.hasSecondOwner || deletion?.policy === 'Orphan'
    if (!shouldStay) return found === undefined ? [] : [`${subject} was not collected`]
    if (found === undefined) return child.isAcknowledged ? [`${subject} should have stayed`] : []
    return remainingOwner === undefined && found.owners.includes(uid) ? [`${subject} still refers to its owner`] : []
  })
}

export class GarbageCollectionClients {
  readonly problems: string[] = []
  readonly #input: WorkerInput
  readonly #ownerSets: OwnerSet[] = []
  #second: { readonly name: string; readonly uid: string } | undefined

  constructor(input: WorkerInput) {
    this.#input = input
  }

  get created(): number {
    return this.#ownerSets.length
  }

  async work(): Promise<void> {
    const { recorder, random, name } = this.#input
    for (let number = 0; !recorder.isOver; number++) {
      this.#second ??= await this.#makeOwner(`${name}-second-${number}`)
      const owner = await this.#makeOwner(`${name}-owner-${number}`)
      if (owner === undefined) continue
      const ownerSet: OwnerSet = { owner: owner.name, uid: owner.uid, children: [] }
      this.#ownerSets.push(ownerSet)
      for (let i = random.below(4); i >= 0; i--) await this.#makeChild(ownerSet, `${name}-child-${number}-${i}`)
      if (random.next() < 0.7) await this.#deleteOwner(ownerSet)
      // A dependent created after the delete is collected, unless it has another owner.
      if (random.next() < 0.3 && ownerSet.deletion?.policy !== 'Orphan') await this.#makeChild(ownerSet, `${name}-child-${number}-late`)
      await sleep(random.below(40))
    }
  }

  /** After healing, garbage collection finishes within the time limit. */
  async finish(replica: Replica): Promise<void> {
    const untilMs = performance.now() + settleMs
    for (;;) {
      const response = await this.#sendTo(replica, { path })
      if (response?.status === 200) {
        const problems = findGarbageProblems(this.#ownerSets, remainingIn(response))
        if (problems.length === 0) return
        if (performance.now() > untilMs) {
          this.problems.push(...problems.slice(0, 10))
          return
        }
      } else if (performance.now() > untilMs) {
        this.problems.push(`the objects cannot be listed: ${response?.text.slice(0, 200)}`)
        return
      }
      await sleep(200)
    }
  }

  async #makeOwner(name: string): Promise<{ readonly name: string; readonly uid: string } | undefined> {
    const response = await this.#send({ method: 'POST', path, body: { metadata: { name } } })
    return response?.status === 201 ? { name, uid: uidOf(response.json) } : undefined
  }

  async #makeChild(ownerSet: OwnerSet, name: string): Promise<void> {
    const { random } = this.#input
    const refer = (owner: { readonly name: string; readonly uid: string }, blockOwnerDeletion: boolean) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      blockOwnerDeletion,
      ...owner,
    })
    const second = random.next() < 0.3 ? this.#second : undefined
    const ownerReferences = [
      refer({ name: ownerSet.owner, uid: ownerSet.uid }, random.next() < 0.5),
      ...(second === undefined ? [] : [refer(second, false)]),
    ]
    const response = await this.#send({ method: 'POST', path, body: { metadata: { name, ownerReferences } } })
    ownerSet.children.push({ name, isAcknowledged: response?.status === 201, hasSecondOwner: second !== undefined })
  }

  async #deleteOwner(ownerSet: OwnerSet): Promise<void> {
    const policy = this.#input.random.pick(policies)
    const response = await this.#send({ method: 'DELETE', path: `${path}/${ownerSet.owner}?propagationPolicy=${policy}` })
    ownerSet.deletion = { policy, isAcknowledged: response?.status === 200 || response?.status === 202 }
  }

  #send(request: { readonly method: string; readonly path: string; readonly body?: unknown }): Promise<ApiResponse | undefined> {
    return this.#sendTo(this.#input.random.pick(this.#input.replicas), request)
  }

  async #sendTo(
    { client }: Replica,
    request: { readonly method?: string; readonly path: string; readonly body?: unknown },
  ): Promise<ApiResponse | undefined> {
    if (client === undefined) {
      await sleep(50)
      return undefined
    }
    return client.send({ ...request, signal: AbortSignal.timeout(6000) }).catch((error: unknown) => {
      this.#input.recorder.countProblem(`garbage collection: ${reasonOf(error)}`)
      return undefined
    })
  }
}

const uidOf = (object: JsonObject): string => (object.metadata as { readonly uid?: string }).uid ?? ''

interface Metadata {
  readonly name: string
  readonly uid?: string
  readonly deletionTimestamp?: string
  readonly ownerReferences?: readonly { readonly uid: string }[]
}

function remainingIn(response: ApiResponse): ReadonlyMap<string, Remaining> {
  const items = response.json.items as readonly { readonly metadata: Metadata }[]
  return new Map(
    items.map(({ metadata }) => [
      metadata.name,
      {
        uid: metadata.uid ?? '',
        isTerminating: metadata.deletionTimestamp !== undefined,
        owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
      },
    ]),
  )
}
