// Policies: expressions that every object they are about must satisfy, once a binding puts them into force.

import { defineResource } from '../../api/definition.js'
import { type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkEach, checkPart, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dns1035Label, dnsSubdomain } from '../../api/validation/text-rules.js'
import { CelCompileError } from '../../cel/compile.js'
import { compilePolicyExpression } from '../../cel/policy.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validateMatchResources, withMatchDefaults } from './match-resources.js'
import {
  type ParamKind,
  validatingAdmissionPolicy as schema,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicySpec,
  type Validation,
} from './v1alpha1.schema.js'
import { failurePolicies } from './webhook-rules.js'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

/** Of all expressions together: to compile them takes a few microseconds per character. */
const costlyExpressionChars = 5000

const isCostlyToValidate = ({ spec: { validations = [] } = {} }: ValidatingAdmissionPolicy): boolean =>
  validations.reduce((sum, { expression = '' }) => sum + expression.length, 0) > costlyExpressionChars

const withSpecDefaults = (spec: ValidatingAdmissionPolicySpec): ValidatingAdmissionPolicySpec =>
  withChanged(withMissing(spec, { failurePolicy: 'Fail' }), 'matchConstraints', withMatchDefaults)

function validateSpec(spec: ValidatingAdmissionPolicySpec): readonly FieldError[] {
  const { failurePolicy = '', matchConstraints, validations = [] } = spec
  return joined(
    failurePolicies.includes(failurePolicy) ? noErrors : [notSupported('spec.failurePolicy', failurePolicy, failurePolicies)],
    checkPart(spec.paramKind, 'spec.paramKind', validateParamKind),
    matchConstraints === undefined
      ? [required('spec.matchConstraints')]
      : joined(
          validateMatchResources(matchConstraints, 'spec.matchConstraints'),
          (matchConstraints.resourceRules ?? []).length === 0 ? [required('spec.matchConstraints.resourceRules')] : noErrors,
        ),
    validations.length === 0
      ? [required('spec.validations')]
      : checkEach(validations, 'spec.validations', (validation, at) => validateValidation(validation, at, spec.paramKind !== undefined)),
  )
}

function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, field: string): readonly FieldError[] {
  const problems = dns1035Label(kind.toLowerCase())
  const ofKind =
    kind === ''
      ? [required(`${field}.kind`)]
      : problems.length === 0
        ? noErrors
        : [invalid(`${field}.kind`, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
  return joined(validateGroupVersion(apiVersion, `${field}.apiVersion`), ofKind)
}

function validateGroupVersion(apiVersion: string, field: string): readonly FieldError[] {
  if (apiVersion === '') return [required(field)]
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const [version = '', group = ''] = parts.reverse()
  const groupProblems = group === '' ? [] : dnsSubdomain(group)
  const versionProblems = version === '' ? [] : dns1035Label(version)
  return [
    ...(groupProblems.length === 0 ? [] : [invalid(field, group, groupProblems.join(','))]),
    ...(version === '' ? [invalid(field, apiVersion, 'version must be specified')] : []),
    ...(versionProblems.length === 0 ? [] : [invalid(field, version, versionProblems.join(','))]),
  ]
}

function validateValidation(
  { expression = '', message = '', reason }: Validation,
  field: string,
  hasParams: boolean,
): readonly FieldError[] {
  return joined(
    validateExpression(expression, `${field}.expression`, hasParams),
    validateMessage(message, `${field}.message`),
    reason === undefined || reasons.includes(reason) ? noErrors : [notSupported(`${field}.reason`, reason, reasons)],
  )
}

function validateExpression(expression: string, field: string, hasParams: boolean): readonly FieldError[] {
  if (expression.trim() === '') return [required(field, 'expression is not specified')]
  try {
    compilePolicyExpression(expression, hasParams)
    return noErrors
  } catch (thrown) {
    if (!(thrown instanceof CelCompileError)) throw thrown
    return [invalid(field, expression, thrown.message)]
  }
}

function validateMessage(message: string, field: string): readonly FieldError[] {
  if (message !== '' && message.trim() === '') return [invalid(field, message, 'message must be non-empty if specified')]
  return /[\n\r]/.test(message.trim()) ? [invalid(field, message, 'message must not contain line breaks')] : noErrors
}

export const validatingAdmissionPolicy = defineResource<ValidatingAdmissionPolicy>({
  group: { stem: 'admissionregistration' },
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  categories: ['api-extensions'],
  namespaced: false,
  gate: 'ValidatingAdmissionPolicy',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (policy) => withChanged(withMissing(policy, { spec: {} }), 'spec', withSpecDefaults),
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) =>
    sameBySchema(schema.fields.spec.node, next.spec ?? {}, old.spec ?? {}) ? next : asNextGeneration(next, old),
  validate: ({ spec = {} }) => validateSpec(spec),
  isCostlyToValidate,
  checks: { update: ['metadata', 'own'] },
  versionRequiredOnUpdate: true,
  anyFinalizer: true,
  table: {
    columns: [
      nameColumn,
      { name: 'Validations', type: 'integer', description: 'How many expressions there are.' },
      textColumn('ParamKind', 'The kind of the parameters.'),
      ageColumn,
    ],
    cells: ({ metadata, spec: { validations = [], paramKind } = {} }, { now }) => [
      metadata?.name ?? '',
      validations.length,
      paramKind === undefined ? '<unset>' : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`,
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
