// Pods and claims of a StatefulSet: names by ordinal, identity labels, volumes of claims.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { StatefulSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type PodOwner, podOfTemplate } from '../kit/pod-control.js'

/** Label with the name of the pod's ControllerRevision. */
const revisionLabel = 'controller-revision-hash'

export const revisionOfPod = ({ metadata }: Pod): string => metadata?.labels?.[revisionLabel] ?? ''

const maxOrdinal = 2 ** 31 - 1

/** Ordinal of a pod of the StatefulSet named `setName`; undefined if the pod's name is none of its names. */
export function ordinalOf({ metadata }: Pod, setName: string): number | undefined {
  const name = metadata?.name ?? ''
  const digits = name.startsWith(`${setName}-`) ? name.slice(setName.length + 1) : ''
  if (!/^\d{1,10}$/.test(digits)) return undefined
  return Number(digits) <= maxOrdinal ? Number(digits) : undefined
}

const podName = ({ metadata }: StatefulSet, ordinal: number): string => `${metadata?.name}-${ordinal}`

/** A pod of `template`, which is that of a revision, not always of the StatefulSet. */
export function statefulPod(
  identity: Identity,
  owner: PodOwner & { readonly owner: StatefulSet },
  wanted: { readonly template: PodTemplateSpec; readonly ordinal: number; readonly revision: string },
): Pod {
  const { owner: set } = owner
  const pod = podOfTemplate(owner, wanted.template)
  const name = podName(set, wanted.ordinal)
  const labels = { ...pod.metadata?.labels, [revisionLabel]: wanted.revision }
  const { subdomain: _, ...spec } = pod.spec ?? {}
  const { serviceName = '' } = set.spec ?? {}
  const named = {
    ...pod,
    metadata: { ...pod.metadata, name, labels },
    spec: { ...spec, hostname: name, ...(serviceName === '' ? {} : { subdomain: serviceName }) },
  } as Pod
  return withStorage(set, withIdentity(identity, named), wanted.ordinal)
}

const nameLabel = (identity: Identity): string => identity.label('pod-name', 'statefulset')

export const hasIdentity = (identity: Identity, { metadata }: Pod): boolean => metadata?.labels?.[nameLabel(identity)] === metadata?.name

export const withIdentity = (identity: Identity, pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, [nameLabel(identity)]: pod.metadata?.name ?? '' } },
})

/** Claims of the pod with this ordinal, by the names of their volumes. */
export const claimsOf = (set: StatefulSet, ordinal: number): ReadonlyMap<string, PersistentVolumeClaim> =>
  new Map((set.spec?.volumeClaimTemplates ?? []).map((template) => [template.metadata?.name ?? '', claimOf(set, template, ordinal)]))

function claimOf({ metadata, spec }: StatefulSet, template: PersistentVolumeClaim, ordinal: number): PersistentVolumeClaim {
  return {
    ...template,
    metadata: {
      ...template.metadata,
      name: `${template.metadata?.name}-${metadata?.name}-${ordinal}`,
      namespace: metadata?.namespace ?? '',
      labels: { ...template.metadata?.labels, ...spec?.selector?.matchLabels },
    },
  }
}

export function hasStorage(set: StatefulSet, pod: Pod, ordinal: number): boolean {
  const volumes = new Map((pod.spec?.volumes ?? []).map((volume) => [volume.name, volume]))
  for (const [name, claim] of claimsOf(set, ordinal))
    if (volumes.get(name)?.persistentVolumeClaim?.claimName !== claim.metadata?.name) return false
  return true
}

/** Volumes of claims replace volumes of the template with the same name. */
export function withStorage(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  const claims = claimsOf(set, ordinal)
  if (claims.size === 0) return pod
  const ofClaims = Array.from(
    claims,
    ([name, { metadata }]): Volume => ({ name, persistentVolumeClaim: { claimName: metadata?.name ?? '' } }),
  )
  const others = (pod.spec?.volumes ?? []).filter(({ name }) => !claims.has(name ?? ''))
  return { ...pod, spec: { ...pod.spec, volumes: [...ofClaims, ...others] } as NonNullable<Pod['spec']> }
}
