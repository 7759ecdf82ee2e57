// Ingress classes: who implements ingresses, and with which parameters.

import { defineResource } from '../../api/definition.js'
import { type FieldError, forbidden, required, tooLong } from '../../api/field-error.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { checkOptionalChoice, checkPart, joined } from '../../api/validation/collect.js'
import { checkDomainPrefixedPath } from '../../api/validation/domain-names.js'
import { checkText, checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsLabel } from '../../api/validation/text-rules.js'
import { validateTypedReference } from './typed-reference.js'
import { type IngressClass, type IngressClassParametersReference, ingressClassSpec, ingressClass as schema } from './v1.schema.js'

const controllerLimitBytes = 250
const scopes = ['Cluster', 'Namespace']

/** Parameters lie outside of namespaces unless they say otherwise. */
function defaults(object: IngressClass): IngressClass {
  const { parameters } = object.spec ?? {}
  if (parameters === undefined || parameters.scope !== undefined) return object
  return { ...object, spec: { ...object.spec, parameters: { ...parameters, scope: 'Cluster' } } }
}

function validate({ spec: { controller = '', parameters } = {} }: IngressClass): readonly FieldError[] {
  const field = 'spec.controller'
  return joined(
    byteLength(controller) > controllerLimitBytes ? [tooLong(field, controllerLimitBytes)] : noErrors,
    checkDomainPrefixedPath(controller, field),
    checkPart(parameters, 'spec.parameters', validateParameters),
  )
}

function validateParameters(parameters: IngressClassParametersReference, field: string): readonly FieldError[] {
  return joined(validateTypedReference(parameters, field), validateScope(parameters, field))
}

function validateScope({ scope, namespace }: IngressClassParametersReference, field: string): readonly FieldError[] {
  const at = `${field}.namespace`
  if (scope === undefined) return [required(`${field}.scope`)]
  if (scope === 'Cluster') return namespace === undefined ? noErrors : [forbidden(at, "`parameters.scope` is set to 'Cluster'")]
  if (scope !== 'Namespace') return checkOptionalChoice(scope, `${field}.scope`, scopes)
  return namespace === undefined ? [required(at, "`parameters.scope` is set to 'Namespace'")] : checkText(namespace, at, dnsLabel)
}

function describeParameters({ spec }: IngressClass): string {
  const { apiGroup, kind = '', name = '' } = spec?.parameters ?? {}
  if (spec?.parameters === undefined) return '<none>'
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
}

export const ingressClass = defineResource<IngressClass>({
  group: { stem: 'networking' },
  kind: 'IngressClass',
  resource: 'ingressclasses',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) => (sameBySchema(ingressClassSpec, next.spec ?? {}, old.spec ?? {}) ? next : asNextGeneration(next, old)),
  validate,
  validateUpdate: (next, old) => checkUnchanged(next.spec?.controller, old.spec?.controller, 'spec.controller'),
  checks: { update: ['metadataChange', 'ownChange', 'metadata', 'own'] },
  table: {
    columns: [
      nameColumn,
      textColumn('Controller', 'Who implements ingresses of the class.'),
      textColumn('Parameters', 'Object with more to say about the class.'),
      ageColumn,
    ],
    cells: (object, { now }) => [
      object.metadata?.name ?? '',
      object.spec?.controller ?? '',
      describeParameters(object),
      ageOf(object.metadata?.creationTimestamp, now),
    ],
  },
})
