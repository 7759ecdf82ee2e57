// Pod annotations with a meaning to the system: mirror pods, AppArmor, seccomp, tolerations, deletion cost.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import type { ObjectMeta } from '../../../api/object.js'
import { joined, noErrors } from '../../../api/validation/checks.js'
import { weakMemoize } from '../../../base/recent-map.js'
import { list } from '../../../schema/node.js'
import { readTypedJson } from '../json-text.js'
import { type PodSpec, type Toleration, toleration } from '../v1.schema.js'
import { validateTolerations } from './scheduling.js'
import { validateSeccompAnnotations } from './security-context.js'
import { visitContainers } from './visit-containers.js'

const initAnnotationsOf = weakMemoize((identity: Identity): readonly string[] =>
  ['alpha', 'beta'].flatMap((stage) => ['init-containers', 'init-container-statuses'].map((name) => identity.label(name, `pod.${stage}`))),
)

export function withoutInitAnnotations<T extends { readonly metadata?: ObjectMeta }>(object: T, identity: Identity): T {
  const annotations = object.metadata?.annotations
  if (annotations === undefined || !initAnnotationsOf(identity).some((name) => annotations[name] !== undefined)) return object
  const { annotations: _, ...rest } = object.metadata ?? {}
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !initAnnotationsOf(identity).includes(name)))
  return { ...object, metadata: Object.keys(kept).length === 0 ? rest : { ...rest, annotations: kept } }
}

const tolerationList = list(toleration)

export type Annotations = { readonly [key: string]: string }

/** Annotation of mirror pods, the API objects of the kubelet's static pods. */
const mirrorKey = (identity: Identity): string => identity.label('config.mirror')
const appArmorPrefix = (identity: Identity): string => identity.label('', 'container.apparmor.security.beta')
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

const fixedProfiles = ['', 'runtime/default', 'unconfined']

function validateAppArmor(annotations: Annotations, { spec, field, identity }: AppArmorContext): readonly FieldError[] {
  const prefix = appArmorPrefix(identity)
  let errors = noErrors
  for (const key in annotations) {
    if (!key.startsWith(prefix)) continue
    const container = key.slice(prefix.length)
    const profile = annotations[key] as string
    const isValidProfile = fixedProfiles.includes(profile) || profile.startsWith('localhost/')
    errors = joined(
      errors,
      hasContainer(spec, container) ? noErrors : [invalid(`${field}[${key}]`, container, 'container not found')],
      isValidProfile ? noErrors : [invalid(`${field}[${key}]`, profile, `invalid AppArmor profile name: "${profile}"`)],
    )
  }
  return errors
}

function hasContainer(spec: PodSpec, name: string): boolean {
  let isFound = false
  visitContainers(spec, '', (container) => {
    isFound ||= container.name === name
  })
  return isFound
}

/** Rejects changes of immutable annotations and validates all annotations again, as in kube-apiserver. */
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

/** AppArmor and mirror pod annotations are immutable. */
function validateAnnotationChanges(next: Annotations | undefined, old: Annotations | undefined, identity: Identity): readonly FieldError[] {
  if (next === old) return noErrors
  const immutableAnnotations = [
    { name: 'AppArmor annotations', has: (key: string) => key.startsWith(appArmorPrefix(identity)) },
    { name: 'mirror pod annotation', has: (key: string) => key === mirrorKey(identity) },
  ]
  const errors: FieldError[] = []
  for (const key in old) {
    if (next?.[key] === old[key]) continue
    for (const { name, has } of immutableAnnotations)
      if (has(key)) errors.push(forbidden(`${metadataField}[${key}]`, `may not remove or update ${name}`))
  }
  for (const key in next) {
    if (old?.[key] !== undefined) continue
    for (const { name, has } of immutableAnnotations)
      if (has(key)) errors.push(forbidden(`${metadataField}[${key}]`, `may not add ${name}`))
  }
  return errors
}
