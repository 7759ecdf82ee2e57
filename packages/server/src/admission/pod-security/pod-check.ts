// Types of the Pod Security checks, and helpers that visit containers and format messages.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { type AnyContainer, visitContainers } from '@cluster-apiserver/api/resources/core/pod-spec/visit-containers.js'
import type { PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'

export interface CheckedPod {
  readonly annotations: { readonly [name: string]: string }
  readonly spec: PodSpec
  readonly identity: Identity
}

export interface Violation {
  readonly reason: string
  readonly detail: string
}

export type CheckPod = (pod: CheckedPod) => Violation | undefined

export interface Check {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** Ordered by `since`, the Kubernetes minor version from which the check applies. */
  readonly versions: readonly { readonly since: number; readonly check: CheckPod }[]
  /** Id of the baseline check that this check replaces. */
  readonly replaces?: string
}

export const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

export const plural = (word: string, { length }: { readonly length: number }): string => (length === 1 ? word : `${word}s`)

/** `container "a"`, or `containers "a", "b"`. */
export const containersNamed = (names: readonly string[]): string => `${plural('container', names)} ${quoted(names)}`

export function containerNamesWhere({ spec }: CheckedPod, predicate: (container: AnyContainer) => boolean): readonly string[] {
  const names: string[] = []
  visitContainers(spec, '', (container) => {
    if (predicate(container)) names.push(container.name ?? '')
  })
  return names
}

export const podAndContainers = (isPod: boolean, containers: readonly string[]): string =>
  [...(isPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [containersNamed(containers)])].join(' and ')

export const sortedUnique = (texts: Iterable<string>): readonly string[] => [...new Set(texts)].sort(compareText)

interface PodContent {
  readonly annotations: { readonly [name: string]: string }
  readonly spec: PodSpec
}

export const templateCollections = [
  'podtemplates',
  'replicationcontrollers',
  'replicasets.apps',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
] as const

interface Template {
  readonly metadata?: ApiObject['metadata']
  readonly spec?: PodSpec
}

interface ObjectWithTemplate extends ApiObject {
  readonly template?: Template
  readonly spec?: { readonly template?: Template; readonly jobTemplate?: { readonly spec?: { readonly template?: Template } } }
}

export function podOf(object: ApiObject | undefined): PodContent | undefined {
  if (object === undefined) return undefined
  const holder = object as ObjectWithTemplate
  const template = holder.template ?? holder.spec?.template ?? holder.spec?.jobTemplate?.spec?.template
  const pod = template ?? (isPod(object) ? (object as Template) : undefined)
  return pod?.spec === undefined ? undefined : { annotations: pod.metadata?.annotations ?? {}, spec: pod.spec }
}

const isPod = (object: ApiObject): boolean => Array.isArray((object as Template).spec?.containers)

type ContainerImage = { readonly name?: string; readonly image?: string }

/** True for new pods, and if containers, images or seccomp annotations change; most other fields of a pod are immutable. */
export function isSignificantChange(next: PodContent, old: PodContent | undefined, identity: Identity): boolean {
  if (old === undefined) return true
  const differs = (one: ContainerImage, other: ContainerImage | undefined): boolean => {
    if (other === undefined || one.image !== other.image) return true
    const key = identity.label(one.name ?? '', 'container.seccomp.security.alpha')
    return next.annotations[key] !== old.annotations[key]
  }
  for (const list of ['containers', 'initContainers'] as const) {
    const [after, before] = [next.spec[list] ?? [], old.spec[list] ?? []]
    if (after.length !== before.length || after.some((container, i) => differs(container, before[i]))) return true
  }
  const before = old.spec.ephemeralContainers ?? []
  return (next.spec.ephemeralContainers ?? []).some((container) =>
    differs(
      container,
      before.find(({ name }) => name === container.name),
    ),
  )
}
