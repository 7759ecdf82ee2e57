// Owners and what they own, made and deleted at all servers while those are killed: in the end nothing is left whose owners are gone, and nothing
// is gone that should have stayed.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../kit/api-client.js'
import type { Wire } from '../kit/wire.js'
import type { Replica } from './replica.js'
import { type WorkerInput, whyOf } from './worker.js'

const path = '/api/v1/namespaces/robust/secrets'
/** A leader that was killed is replaced when its lease has run out. */
const settleMs = 60_000
const policies = ['Background', 'Foreground', 'Orphan'] as const

export type Policy = (typeof policies)[number]

export interface Child {
  readonly name: string
  /** Whether its creation was acknowledged; otherwise it may be there or not. */
  readonly isSure: boolean
  /** It has another owner, which stays. */
  readonly hasSecondOwner: boolean
}

export interface Family {
  readonly owner: string
  readonly uid: string
  readonly children: Child[]
  /** How the owner was deleted; undefined: it was not. */
  deletion?: { readonly policy: Policy; readonly isSure: boolean }
}

/** An object as it is left. */
export interface Left {
  readonly uid: string
  readonly isGoing: boolean
  readonly owners: readonly string[]
}

/** What is wrong with what is left of families, or not yet done. */
export function judgeFamilies(families: readonly Family[], left: ReadonlyMap<string, Left>): readonly string[] {
  return families.flatMap((family) => judgeFamily(family, left))
}

function judgeFamily({ owner, uid, children, deletion }: Family, left: ReadonlyMap<string, Left>): readonly string[] {
  const there = left.get(owner)
  if (there?.isGoing) return [`${owner} was deleted (${deletion?.policy}) and is still there`]
  if (deletion?.isSure && there !== undefined) return [`${owner} was deleted (${deletion.policy}) and is still there`]
  if (deletion === undefined && there === undefined) return [`${owner} is gone and nobody deleted it`]
  return children.flatMap((child) => {
    const found = left.get(child.name)
    const story = `${child.name} of ${owner} (${deletion?.policy ?? 'kept'}${child.hasSecondOwner ? ', with a second owner' : ''})`
    if (found?.isGoing) return [`${story} is going and not gone`]
    const shallStay = there !== undefined || child.hasSecondOwner || deletion?.policy === 'Orphan'
    if (!shallStay) return found === undefined ? [] : [`${story} is left over`]
    if (found === undefined) return child.isSure ? [`${story} should have stayed`] : []
    return there === undefined && found.owners.includes(uid) ? [`${story} still refers to its owner`] : []
  })
}

export class Families {
  readonly problems: string[] = []
  readonly #input: WorkerInput
  readonly #families: Family[] = []
  #second: { readonly name: string; readonly uid: string } | undefined

  constructor(input: WorkerInput) {
    this.#input = input
  }

  get made(): number {
    return this.#families.length
  }

  async work(): Promise<void> {
    const { recorder, random, name } = this.#input
    for (let number = 0; !recorder.isOver; number++) {
      this.#second ??= await this.#makeOwner(`${name}-second-${number}`)
      const made = await this.#makeOwner(`${name}-owner-${number}`)
      if (made === undefined) continue
      const family: Family = { owner: made.name, uid: made.uid, children: [] }
      this.#families.push(family)
      for (let i = random.below(4); i >= 0; i--) await this.#makeChild(family, `${name}-child-${number}-${i}`)
      if (random.next() < 0.7) await this.#deleteOwner(family)
      // One that comes late finds nobody, unless it has another owner.
      if (random.next() < 0.3 && family.deletion?.policy !== 'Orphan') await this.#makeChild(family, `${name}-child-${number}-late`)
      await sleep(random.below(40))
    }
  }

  /** When all is well, what is to be done is done within a while. */
  async finish(replica: Replica): Promise<void> {
    const untilMs = performance.now() + settleMs
    for (;;) {
      const answer = await this.#ask(replica, { path })
      if (answer?.status === 200) {
        const problems = judgeFamilies(this.#families, leftIn(answer))
        if (problems.length === 0) return
        if (performance.now() > untilMs) {
          this.problems.push(...problems.slice(0, 10))
          return
        }
      } else if (performance.now() > untilMs) {
        this.problems.push(`nothing can be listed: ${answer?.text.slice(0, 200)}`)
        return
      }
      await sleep(200)
    }
  }

  async #makeOwner(name: string): Promise<{ readonly name: string; readonly uid: string } | undefined> {
    const answer = await this.#send({ method: 'POST', path, body: { metadata: { name } } })
    return answer?.status === 201 ? { name, uid: uidOf(answer.json) } : undefined
  }

  async #makeChild(family: Family, name: string): Promise<void> {
    const { random } = this.#input
    const refer = (owner: { readonly name: string; readonly uid: string }, blockOwnerDeletion: boolean) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      blockOwnerDeletion,
      ...owner,
    })
    const second = random.next() < 0.3 ? this.#second : undefined
    const ownerReferences = [
      refer({ name: family.owner, uid: family.uid }, random.next() < 0.5),
      ...(second === undefined ? [] : [refer(second, false)]),
    ]
    const answer = await this.#send({ method: 'POST', path, body: { metadata: { name, ownerReferences } } })
    family.children.push({ name, isSure: answer?.status === 201, hasSecondOwner: second !== undefined })
  }

  async #deleteOwner(family: Family): Promise<void> {
    const policy = this.#input.random.pick(policies)
    const answer = await this.#send({ method: 'DELETE', path: `${path}/${family.owner}?propagationPolicy=${policy}` })
    family.deletion = { policy, isSure: answer?.status === 200 || answer?.status === 202 }
  }

  #send(sending: { readonly method: string; readonly path: string; readonly body?: unknown }): Promise<Answer | undefined> {
    return this.#ask(this.#input.random.pick(this.#input.replicas), sending)
  }

  async #ask(
    { client }: Replica,
    sending: { readonly method?: string; readonly path: string; readonly body?: unknown },
  ): Promise<Answer | undefined> {
    if (client === undefined) {
      await sleep(50)
      return undefined
    }
    return client.send({ ...sending, signal: AbortSignal.timeout(6000) }).catch((error: unknown) => {
      this.#input.recorder.trouble(`family: ${whyOf(error)}`)
      return undefined
    })
  }
}

const uidOf = (wire: Wire): string => (wire.metadata as { readonly uid?: string }).uid ?? ''

interface Metadata {
  readonly name: string
  readonly uid?: string
  readonly deletionTimestamp?: string
  readonly ownerReferences?: readonly { readonly uid: string }[]
}

function leftIn(answer: Answer): ReadonlyMap<string, Left> {
  const items = answer.json.items as readonly { readonly metadata: Metadata }[]
  return new Map(
    items.map(({ metadata }) => [
      metadata.name,
      {
        uid: metadata.uid ?? '',
        isGoing: metadata.deletionTimestamp !== undefined,
        owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
      },
    ]),
  )
}
