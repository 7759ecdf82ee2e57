// The checks that the level restricted adds: a pod has no more rights than it needs. In the order in which they are told of.

import type { Check, CheckedPod, CheckPod, Violation } from './check.js'
import { containersNamed, namesWhere, plural, quoted, settersOf, sortedUnique } from './check.js'
import { seccompRequired } from './seccomp-checks.js'

/** Pods for Windows have no such thing. */
const butForWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod)

function escalation(pod: CheckedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersNamed(names)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

function capabilities(pod: CheckedPod): Violation | undefined {
  const keeping = namesWhere(pod, ({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true)
  const added: string[] = []
  const adding = namesWhere(pod, ({ securityContext }) => {
    const forbidden = (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE')
    added.push(...forbidden)
    return forbidden.length > 0
  })
  if (keeping.length === 0 && adding.length === 0) return undefined
  const details = [
    ...(keeping.length === 0 ? [] : [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${containersNamed(adding)} must not include ${quoted(sortedUnique(added))} in securityContext.capabilities.add`]),
  ]
  return { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const allowedVolumes = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret']

function volumeTypes({ spec }: CheckedPod): Violation | undefined {
  const names: string[] = []
  const types: string[] = []
  for (const volume of spec.volumes ?? []) {
    const fields = Object.keys(volume).filter((field) => field !== 'name' && volume[field as keyof typeof volume] !== undefined)
    if (fields.some((field) => allowedVolumes.includes(field))) continue
    names.push(volume.name ?? '')
    types.push(fields[0] ?? 'unknown')
  }
  if (names.length === 0) return undefined
  const unique = sortedUnique(types)
  const use = names.length === 1 ? 'uses' : 'use'
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', names)} ${quoted(names)} ${use} restricted volume ${plural('type', unique)} ${quoted(unique)}`,
  }
}

function nonRoot(pod: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true'
  const ofPod = pod.spec.securityContext?.runAsNonRoot
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false)
  if (ofPod === false || bad.length > 0)
    return { reason, detail: `${settersOf(ofPod === false, bad)} must not set securityContext.runAsNonRoot=false` }
  if (ofPod === true) return undefined
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` }
}

function rootUser(pod: CheckedPod): Violation | undefined {
  const isZero = (user: number | bigint | undefined): boolean => user !== undefined && Number(user) === 0
  const isPod = isZero(pod.spec.securityContext?.runAsUser)
  const names = namesWhere(pod, ({ securityContext }) => isZero(securityContext?.runAsUser))
  if (!isPod && names.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${settersOf(isPod, names)} must not set runAsUser=0` }
}

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: escalation },
      { since: 25, check: butForWindows(escalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    replaces: 'capabilities_baseline',
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: butForWindows(capabilities) },
    ],
  },
  { id: 'restrictedVolumes', level: 'restricted', replaces: 'hostPathVolumes', versions: [{ since: 0, check: volumeTypes }] },
  { id: 'runAsNonRoot', level: 'restricted', versions: [{ since: 0, check: nonRoot }] },
  { id: 'runAsUser', level: 'restricted', versions: [{ since: 23, check: rootUser }] },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    replaces: 'seccompProfile_baseline',
    versions: [
      { since: 19, check: seccompRequired },
      { since: 25, check: butForWindows(seccompRequired) },
    ],
  },
]
