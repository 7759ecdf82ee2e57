// Rules that workload controllers must keep, checked over all changes of a run: Deployment `web`, Jobs, StatefulSet `db`.

import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import type { Change } from './change-recorder.js'

/** The fields of pods, ReplicaSets and Jobs that the rules read. */
interface Read {
  readonly metadata: JsonObject['metadata'] & {
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
  readonly spec: { readonly replicas?: number; readonly parallelism?: number; readonly completions?: number }
  readonly status?: {
    readonly phase?: string
    readonly succeeded?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

export interface RolloutLimits {
  readonly replicas: number
  readonly maxSurge: number
  readonly maxUnavailable: number
}

const isActive = ({ metadata, status }: Read): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
const isReady = (pod: Read): boolean =>
  isActive(pod) && pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
const ownerOf = ({ metadata }: Read): string => {
  const [owner] = metadata.ownerReferences ?? []
  return `${owner?.kind} ${owner?.name}`
}
const ordinalOf = ({ metadata }: Read): number => Number(/-(\d+)$/.exec(metadata.name)?.[1])
const indexOf = ({ metadata }: Read): string | undefined => metadata.annotations?.['batch.cluster.io/job-completion-index']

/** Violations, each with the version of the change. */
export function violationsOf(changes: readonly Change[], limits: RolloutLimits): readonly string[] {
  const run = new Run(limits)
  for (const change of changes) run.apply(change)
  return run.violations
}

class Run {
  readonly violations: string[] = []
  readonly #limits: RolloutLimits
  readonly #pods = new Map<string, Read>()
  readonly #replicaSets = new Map<string, Read>()
  readonly #jobs = new Map<string, Read>()
  /** Uids of pods, by Job. */
  readonly #created = new Map<string, Set<string>>()
  readonly #succeeded = new Map<string, Map<string, string | undefined>>()

  constructor(limits: RolloutLimits) {
    this.#limits = limits
  }

  apply({ version, plural, type, object }: Change): void {
    const found = object as unknown as Read
    const check = (isRight: boolean, problem: string): void => {
      if (!isRight) this.violations.push(`version ${version}, ${type} ${plural}/${object.metadata.name}: ${problem}`)
    }
    const { name } = object.metadata
    if (plural === 'pods') this.#applyPod(found, type, check)
    else if (plural === 'replicasets') {
      this.#store(this.#replicaSets, found, type)
      this.#checkSurge(check)
    } else if (plural === 'jobs') {
      this.#checkJob(found, this.#jobs.get(name), check)
      this.#store(this.#jobs, found, type)
    }
  }

  #store(objects: Map<string, Read>, object: Read, type: string): void {
    if (type === 'DELETED') objects.delete(object.metadata.name)
    else objects.set(object.metadata.name, object)
  }

  #applyPod(pod: Read, type: string, check: Check): void {
    const { name } = pod.metadata
    const before = this.#pods.get(name)
    check(before === undefined || before.metadata.uid === pod.metadata.uid, 'two pods of one name')
    const isRemoved = type === 'DELETED' || pod.metadata.deletionTimestamp !== undefined
    const wasRemoved = before === undefined || before.metadata.deletionTimestamp !== undefined
    const isLosingReadiness = before !== undefined && isReady(before) && isRemoved
    this.#store(this.#pods, pod, type)
    const owner = ownerOf(pod)
    const siblings = [...this.#pods.values()].filter((other) => ownerOf(other) === owner)
    if (owner.startsWith('ReplicaSet ')) {
      const { replicas = 0 } = this.#replicaSets.get(owner.slice('ReplicaSet '.length))?.spec ?? {}
      const active = siblings.filter(isActive).length
      if (type === 'ADDED') check(active <= replicas, `${active} pods, but the ReplicaSet wants ${replicas}`)
      if (isLosingReadiness) this.#checkAvailable(check)
    } else if (owner.startsWith('Job ')) this.#checkJobPod(pod, siblings, check)
    else if (type === 'ADDED') this.#checkLowerOrdinals(pod, siblings, check)
    else if (isRemoved && !wasRemoved) {
      const higher = siblings.filter((other) => ordinalOf(other) > ordinalOf(pod))
      check(higher.length === 0, `removed while ${higher.map(({ metadata }) => metadata.name)} exists`)
      this.#checkLowerOrdinals(pod, siblings, check)
    }
  }

  #checkLowerOrdinals(pod: Read, siblings: readonly Read[], check: Check): void {
    const ready = siblings.filter((other) => ordinalOf(other) < ordinalOf(pod) && isReady(other)).length
    check(ready === ordinalOf(pod), `only ${ready} lower ordinals are ready`)
  }

  #checkSurge(check: Check): void {
    const { replicas, maxSurge } = this.#limits
    let wanted = 0
    for (const { spec } of this.#replicaSets.values()) wanted += spec.replicas ?? 0
    check(wanted <= replicas + maxSurge, `${wanted} pods wanted, with ${replicas} replicas and maxSurge ${maxSurge}`)
  }

  #checkAvailable(check: Check): void {
    const { replicas, maxUnavailable } = this.#limits
    const ready = [...this.#pods.values()].filter((pod) => ownerOf(pod).startsWith('ReplicaSet ') && isReady(pod)).length
    check(ready >= replicas - maxUnavailable, `${ready} ready pods left, with ${replicas} replicas and maxUnavailable ${maxUnavailable}`)
  }

  #checkJobPod(pod: Read, siblings: readonly Read[], check: Check): void {
    const job = ownerOf(pod).slice('Job '.length)
    const { parallelism = 1, completions = 1 } = this.#jobs.get(job)?.spec ?? {}
    const active = siblings.filter(isActive)
    check(active.length <= parallelism, `${active.length} active pods, with parallelism ${parallelism}`)
    const created = this.#created.get(job) ?? new Set()
    this.#created.set(job, created.add(pod.metadata.uid))
    check(created.size <= completions, `pod ${created.size} of ${completions} completions`)
    const index = indexOf(pod)
    const doubled = active.filter((other) => index !== undefined && indexOf(other) === index)
    check(doubled.length <= 1, `${doubled.length} active pods of index ${index}`)
    if (pod.status?.phase !== 'Succeeded') return
    const succeeded = this.#succeeded.get(job) ?? new Map<string, string | undefined>()
    this.#succeeded.set(job, succeeded.set(pod.metadata.uid, index))
    const indexes = [...succeeded.values()].filter((value) => value !== undefined)
    check(new Set(indexes).size === indexes.length, `index ${index} completed twice`)
  }

  #checkJob({ metadata, spec, status }: Read, before: Read | undefined, check: Check): void {
    const count = status?.succeeded ?? 0
    const seen = this.#succeeded.get(metadata.name)?.size ?? 0
    check(count >= (before?.status?.succeeded ?? 0), `status.succeeded went back to ${count}`)
    check(count <= seen, `status.succeeded is ${count}, but ${seen} pods succeeded`)
    const isComplete = status?.conditions?.some((condition) => condition.type === 'Complete' && condition.status === 'True') === true
    if (isComplete)
      check(count === spec.completions && seen === count, `complete after ${count} of ${spec.completions}; ${seen} pods succeeded`)
  }
}

type Check = (isRight: boolean, problem: string) => void
