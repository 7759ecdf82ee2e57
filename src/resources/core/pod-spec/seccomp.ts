// System call filters: as fields of security contexts, and as the annotations that came before them.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import type { ObjectMeta } from '../../../api/object.js'
import { joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import type { PodSpec, SeccompProfile } from '../v1.schema.js'
import { visitContainers } from './all-containers.js'
import { checkDescendingPath } from './paths.js'

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const localPrefix = 'localhost/'

export const podSeccompKey = (identity: Identity): string => identity.label('pod', 'seccomp.security.alpha')
export const containerSeccompPrefix = (identity: Identity): string => identity.label('', 'container.seccomp.security.alpha')

export function validateSeccompProfile(profile: SeccompProfile, field: string): readonly FieldError[] {
  const { type = '', localhostProfile } = profile
  const isLocal = type === 'Localhost'
  return joined(
    type === '' ? [required(`${field}.type`, 'type is required when seccompProfile is set')] : noErrors,
    type === '' || profileTypes.includes(type) ? noErrors : [notSupported(`${field}.type`, type, profileTypes)],
    isLocal && localhostProfile === undefined
      ? [required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost')]
      : noErrors,
    isLocal && localhostProfile !== undefined ? checkDescendingPath(localhostProfile, `${field}.localhostProfile`) : noErrors,
    !isLocal && localhostProfile !== undefined
      ? [invalid(`${field}.localhostProfile`, profile, 'can only be set when seccomp type is Localhost')]
      : noErrors,
  )
}

const defaultNames = ['runtime/default', 'docker/default']

/** A profile as an annotation names it. */
function validateProfileName(name: string, field: string): readonly FieldError[] {
  if (name === 'unconfined' || defaultNames.includes(name)) return noErrors
  if (name.startsWith(localPrefix)) return checkDescendingPath(name.slice(localPrefix.length), field)
  return [invalid(field, name, 'must be a valid seccomp profile')]
}

type Annotations = { readonly [key: string]: string }

export function validateSeccompAnnotations(annotations: Annotations, field: string, identity: Identity): readonly FieldError[] {
  const podKey = podSeccompKey(identity)
  const prefix = containerSeccompPrefix(identity)
  let errors = noErrors
  const ofPod = annotations[podKey]
  if (ofPod !== undefined) errors = validateProfileName(ofPod, `${field}.${podKey}`)
  for (const key in annotations) {
    if (key.startsWith(prefix)) errors = joined(errors, validateProfileName(annotations[key] as string, `${field}.${key}`))
  }
  return errors
}

/** Where both an annotation and a field speak, they say the same. */
export function validateSeccompAgreement(
  { metadata, spec }: { readonly metadata: ObjectMeta; readonly spec: PodSpec },
  field: string,
  identity: Identity,
): readonly FieldError[] {
  const { annotations } = metadata
  if (annotations === undefined) return noErrors
  let errors = compare(
    annotations[podSeccompKey(identity)],
    spec.securityContext?.seccompProfile,
    `${field}.securityContext.seccompProfile`,
  )
  visitContainers(spec, field, ({ name = '', securityContext }, at) => {
    const annotation = annotations[`${containerSeccompPrefix(identity)}${name}`]
    errors = joined(errors, compare(annotation, securityContext?.seccompProfile, `${at}.securityContext.seccompProfile`))
  })
  return errors
}

function compare(annotation: string | undefined, profile: SeccompProfile | undefined, field: string): readonly FieldError[] {
  if (annotation === undefined || profile === undefined) return noErrors
  const differs = [forbidden(`${field}.type`, 'seccomp type in annotation and field must match')]
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? noErrors : differs
    case 'RuntimeDefault':
      return defaultNames.includes(annotation) ? noErrors : differs
    case 'Localhost':
      if (!annotation.startsWith(localPrefix)) return differs
      return annotation.slice(localPrefix.length) === profile.localhostProfile
        ? noErrors
        : [forbidden(`${field}.localhostProfile`, 'seccomp profile in annotation and field must match')]
    default:
      return noErrors
  }
}

/** What an annotation says, as a field. */
export function profileOfAnnotation(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (defaultNames.includes(annotation)) return { type: 'RuntimeDefault' }
  const local = annotation.startsWith(localPrefix) ? annotation.slice(localPrefix.length) : ''
  return local === '' ? undefined : { type: 'Localhost', localhostProfile: local }
}
