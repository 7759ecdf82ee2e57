// Which system calls a pod may make: by annotations in releases of old, by fields since 1.19.

import type { CheckedPod, Violation } from './check.js'
import { containersNamed, namesWhere, plural, quoted, settersOf, sortedUnique } from './check.js'

const reason = 'seccompProfile'

const isAllowedAnnotation = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')

export function seccompAnnotations(pod: CheckedPod): Violation | undefined {
  const { annotations, identity } = pod
  const forbidden: string[] = []
  const look = (name: string): void => {
    const value = annotations[name]
    if (value !== undefined && !isAllowedAnnotation(value)) forbidden.push(`${name}=${JSON.stringify(value)}`)
  }
  look(identity.label('pod', 'seccomp.security.alpha'))
  namesWhere(pod, ({ name = '' }) => {
    look(identity.label(name, 'container.seccomp.security.alpha'))
    return false
  })
  if (forbidden.length === 0) return undefined
  const unique = sortedUnique(forbidden)
  return { reason, detail: `forbidden ${plural('annotation', unique)} ${unique.join(', ')}` }
}

type Profile = { readonly type?: string } | undefined

const isAllowed = (profile: NonNullable<Profile>): boolean => profile.type === 'RuntimeDefault' || profile.type === 'Localhost'

/** Whoever sets a profile that is not allowed. */
export function seccompFields(pod: CheckedPod): Violation | undefined {
  const types: string[] = []
  const isBad = (profile: Profile): boolean => {
    if (profile === undefined || isAllowed(profile)) return false
    types.push(profile.type ?? '')
    return true
  }
  const isPod = isBad(pod.spec.securityContext?.seccompProfile)
  const names = namesWhere(pod, ({ securityContext }) => isBad(securityContext?.seccompProfile))
  if (!isPod && names.length === 0) return undefined
  const detail = `${settersOf(isPod, names)} must not set securityContext.seccompProfile.type to ${quoted(sortedUnique(types))}`
  return { reason, detail }
}

/** The same, and everybody must have one. */
export function seccompRequired(pod: CheckedPod): Violation | undefined {
  const bad = seccompFields(pod)
  if (bad !== undefined) return bad
  if (pod.spec.securityContext?.seccompProfile !== undefined) return undefined
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (names.length === 0) return undefined
  const detail = `pod or ${containersNamed(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return { reason, detail }
}
