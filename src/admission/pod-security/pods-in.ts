// The pods that objects of many kinds describe: pods themselves, and the templates of those that make pods.

import type { Identity } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import type { PodSpec } from '../../resources/core/v1.schema.js'

/** What is looked at of a pod or a template. */
export interface DescribedPod {
  readonly annotations: { readonly [name: string]: string }
  readonly spec: PodSpec
}

/** Kinds with a template in them. */
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

interface Described extends ApiObject {
  /** Of a PodTemplate. */
  readonly template?: Template
  readonly spec?: { readonly template?: Template; readonly jobTemplate?: { readonly spec?: { readonly template?: Template } } }
}

/** Undefined where there is none: a controller without a template. */
export function podOf(object: ApiObject | undefined): DescribedPod | undefined {
  if (object === undefined) return undefined
  const described = object as Described
  const template = described.template ?? described.spec?.template ?? described.spec?.jobTemplate?.spec?.template
  const pod = template ?? (isPod(object) ? (object as Template) : undefined)
  return pod?.spec === undefined ? undefined : { annotations: pod.metadata?.annotations ?? {}, spec: pod.spec }
}

const isPod = (object: ApiObject): boolean => Array.isArray((object as Template).spec?.containers)

type Named = { readonly name?: string; readonly image?: string }

/** Of a pod that is there little can change; what matters is which programs it runs, and with which system calls. */
export function isSignificantChange(next: DescribedPod, old: DescribedPod | undefined, identity: Identity): boolean {
  if (old === undefined) return true
  const differs = (one: Named, other: Named | undefined): boolean => {
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
