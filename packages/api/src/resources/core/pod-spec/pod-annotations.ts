// Annotations of pods that the system itself reads, and so checks.

import type { RuleContext } from '../../../api/definition.js'
import { type FieldError, forbidden, invalid } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import { joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import { list } from '../../../schema/node.js'
import { readTypedJson } from '../json-text.js'
import { type PodSpec, type Toleration, toleration } from '../v1.schema.js'
import { visitContainers } from './all-containers.js'
import { validateSeccompAnnotations } from './seccomp.js'
import { validateTolerations } from './tolerations.js'

const tolerationList = list(toleration)

export type Annotations = { readonly [key: string]: string }

/** The copy that a node keeps of a pod which it runs by itself. */
export const mirrorKey = (identity: Identity): string => identity.label('config.mirror')
export const appArmorPrefix = (identity: Identity): string => identity.label('', 'container.apparmor.security.beta')
const tolerationsKey = (identity: Identity): string => identity.label('tolerations', 'scheduler.alpha')
const deletionCostKey = (identity: Identity): string => identity.label('pod-deletion-cost', 'controller')

type Context = Pick<RuleContext, 'identity' | 'gates'>

export function validatePodAnnotations(
  { annotations, spec }: { readonly annotations: Annotations | undefined; readonly spec: PodSpec },
  field: string,
  { identity, gates }: Context,
): readonly FieldError[] {
  if (annotations === undefined) return noErrors
  const mirror = annotations[mirrorKey(identity)]
  return joined(
    mirror !== undefined && (spec.nodeName ?? '') === ''
      ? [invalid(`${field}[${mirrorKey(identity)}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set')]
      : noErrors,
    validateAnnotatedTolerations(annotations[tolerationsKey(identity)], field, identity),
    gates('PodDeletionCost') ? validateDeletionCost(annotations[deletionCostKey(identity)], field, identity) : noErrors,
    validateSeccompAnnotations(annotations, field, identity),
    validateAppArmor(annotations, { spec, field, identity }),
  )
}

function validateAnnotatedTolerations(text: string | undefined, field: string, identity: Identity): readonly FieldError[] {
  if (text === undefined || text === '') return noErrors
  const key = tolerationsKey(identity)
  const { value = [], problem } = readTypedJson<readonly Toleration[]>(text, tolerationList)
  return problem === undefined ? validateTolerations(value, `${field}.${key}`) : [invalid(field, key, problem)]
}

const int32Text = /^(?:0|-?[1-9][0-9]{0,9})$/

function validateDeletionCost(text: string | undefined, field: string, identity: Identity): readonly FieldError[] {
  if (text === undefined || (int32Text.test(text) && (Number(text) | 0) === Number(text))) return noErrors
  return [invalid(`${field}[${deletionCostKey(identity)}]`, text, 'must be a 32bit integer')]
}

interface AppArmorContext {
  readonly spec: PodSpec
  readonly field: string
  readonly identity: Identity
}

const plainProfiles = ['', 'runtime/default', 'unconfined']

function validateAppArmor(annotations: Annotations, { spec, field, identity }: AppArmorContext): readonly FieldError[] {
  const prefix = appArmorPrefix(identity)
  let errors = noErrors
  for (const key in annotations) {
    if (!key.startsWith(prefix)) continue
    const container = key.slice(prefix.length)
    const profile = annotations[key] as string
    const isReadable = plainProfiles.includes(profile) || profile.startsWith('localhost/')
    errors = joined(
      errors,
      hasContainer(spec, container) ? noErrors : [invalid(`${field}[${key}]`, container, 'container not found')],
      isReadable ? noErrors : [invalid(`${field}[${key}]`, profile, `invalid AppArmor profile name: "${profile}"`)],
    )
  }
  return errors
}

function hasContainer(spec: PodSpec, name: string): boolean {
  let isThere = false
  visitContainers(spec, '', (container) => {
    isThere ||= container.name === name
  })
  return isThere
}

/** Annotations that change are looked at once more, whatever else looks at them. */
export const validateAnnotationUpdate = (next: Annotated, old: Annotated, context: Context): readonly FieldError[] => {
  const annotations = next.metadata?.annotations
  return joined(
    validateAnnotationChanges(annotations, old.metadata?.annotations, context.identity),
    validatePodAnnotations({ annotations, spec: next.spec ?? {} }, metadataField, context),
  )
}

interface Annotated {
  readonly metadata?: { readonly annotations?: Annotations }
  readonly spec?: PodSpec
}

const metadataField = 'metadata.annotations'

/** What a running pod is confined by, and that it mirrors another, stays as it is. */
function validateAnnotationChanges(next: Annotations | undefined, old: Annotations | undefined, identity: Identity): readonly FieldError[] {
  if (next === old) return noErrors
  const subjects = [
    { name: 'AppArmor annotations', has: (key: string) => key.startsWith(appArmorPrefix(identity)) },
    { name: 'mirror pod annotation', has: (key: string) => key === mirrorKey(identity) },
  ]
  const errors: FieldError[] = []
  for (const key in old) {
    if (next?.[key] === old[key]) continue
    for (const { name, has } of subjects)
      if (has(key)) errors.push(forbidden(`${metadataField}[${key}]`, `may not remove or update ${name}`))
  }
  for (const key in next) {
    if (old?.[key] !== undefined) continue
    for (const { name, has } of subjects) if (has(key)) errors.push(forbidden(`${metadataField}[${key}]`, `may not add ${name}`))
  }
  return errors
}
