// Checks that the Pod Security level restricted adds, in the order in which violations are reported.

import {
  type Check,
  type CheckedPod,
  type CheckPod,
  containerNamesWhere,
  containersNamed,
  plural,
  podAndContainers,
  quoted,
  sortedUnique,
  type Violation,
} from './pod-check.js'

const exceptWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod)

function escalation(pod: CheckedPod): Violation | undefined {
  const names = containerNamesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersNamed(names)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

function capabilities(pod: CheckedPod): Violation | undefined {
  const withoutDropAll = containerNamesWhere(pod, ({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true)
  const added: string[] = []
  const withForbiddenAdd = containerNamesWhere(pod, ({ securityContext }) => {
    const forbidden = (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE')
    added.push(...forbidden)
    return forbidden.length > 0
  })
  if (withoutDropAll.length === 0 && withForbiddenAdd.length === 0) return undefined
  const details = [
    ...(withoutDropAll.length === 0 ? [] : [`${containersNamed(withoutDropAll)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(withForbiddenAdd.length === 0
      ? []
      : [`${containersNamed(withForbiddenAdd)} must not include ${quoted(sortedUnique(added))} in securityContext.capabilities.add`]),
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
  const podValue = pod.spec.securityContext?.runAsNonRoot
  const settingFalse = containerNamesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false)
  if (podValue === false || settingFalse.length > 0)
    return { reason, detail: `${podAndContainers(podValue === false, settingFalse)} must not set securityContext.runAsNonRoot=false` }
  if (podValue === true) return undefined
  const unset = containerNamesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (unset.length === 0) return undefined
  return { reason, detail: `pod or ${containersNamed(unset)} must set securityContext.runAsNonRoot=true` }
}

function rootUser(pod: CheckedPod): Violation | undefined {
  const isZero = (user: number | bigint | undefined): boolean => user !== undefined && Number(user) === 0
  const isSetOnPod = isZero(pod.spec.securityContext?.runAsUser)
  const names = containerNamesWhere(pod, ({ securityContext }) => isZero(securityContext?.runAsUser))
  if (!isSetOnPod && names.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${podAndContainers(isSetOnPod, names)} must not set runAsUser=0` }
}

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: escalation },
      { since: 25, check: exceptWindows(escalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    replaces: 'capabilities_baseline',
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: exceptWindows(capabilities) },
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
      { since: 25, check: exceptWindows(seccompRequired) },
    ],
  },
]

const seccompReason = 'seccompProfile'

const isAllowedAnnotation = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')

export function seccompAnnotations(pod: CheckedPod): Violation | undefined {
  const { annotations, identity } = pod
  const forbidden: string[] = []
  const checkAnnotation = (name: string): void => {
    const value = annotations[name]
    if (value !== undefined && !isAllowedAnnotation(value)) forbidden.push(`${name}=${JSON.stringify(value)}`)
  }
  checkAnnotation(identity.label('pod', 'seccomp.security.alpha'))
  containerNamesWhere(pod, ({ name = '' }) => {
    checkAnnotation(identity.label(name, 'container.seccomp.security.alpha'))
    return false
  })
  if (forbidden.length === 0) return undefined
  const unique = sortedUnique(forbidden)
  return { reason: seccompReason, detail: `forbidden ${plural('annotation', unique)} ${unique.join(', ')}` }
}

type Profile = { readonly type?: string } | undefined

const isAllowed = (profile: NonNullable<Profile>): boolean => profile.type === 'RuntimeDefault' || profile.type === 'Localhost'

export function seccompFields(pod: CheckedPod): Violation | undefined {
  const types: string[] = []
  const isForbidden = (profile: Profile): boolean => {
    if (profile === undefined || isAllowed(profile)) return false
    types.push(profile.type ?? '')
    return true
  }
  const isSetOnPod = isForbidden(pod.spec.securityContext?.seccompProfile)
  const names = containerNamesWhere(pod, ({ securityContext }) => isForbidden(securityContext?.seccompProfile))
  if (!isSetOnPod && names.length === 0) return undefined
  const detail = `${podAndContainers(isSetOnPod, names)} must not set securityContext.seccompProfile.type to ${quoted(sortedUnique(types))}`
  return { reason: seccompReason, detail }
}

function seccompRequired(pod: CheckedPod): Violation | undefined {
  const violation = seccompFields(pod)
  if (violation !== undefined) return violation
  if (pod.spec.securityContext?.seccompProfile !== undefined) return undefined
  const names = containerNamesWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (names.length === 0) return undefined
  const detail = `pod or ${containersNamed(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason: seccompReason, detail }
}
