// ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding: defaults, validation (CEL expressions compile), printer columns.

import { asFirstGeneration } from '../../api/definition/generation.js'
import { defineResource } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import {
  checkEach,
  checkOptional,
  checkText,
  dnsSubdomainProblems,
  joined,
  noErrors,
  pathSegmentProblems,
} from '../../api/validation/checks.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dns1035Label, dnsSubdomain } from '../../api/validation/name-formats.js'
import { CelCompileError } from '../../cel/compile.js'
import { compilePolicyExpression } from '../../cel/policy-expression.js'
import { ageColumn, countColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { withSpecGeneration } from '../status-subresource.js'
import { withBindingDefaults, withPolicyDefaults } from './policy/policy-defaults.js'
import {
  type MatchResources,
  type NamedRuleWithOperations,
  type ParamKind,
  type ParamRef,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingSpec,
  type ValidatingAdmissionPolicySpec,
  type Validation,
  validatingAdmissionPolicyBinding as validatingAdmissionPolicyBindingSchema,
  validatingAdmissionPolicy as validatingAdmissionPolicySchema,
} from './v1alpha1.schema.js'
import { failurePolicies, matchPolicies, validateOperationRule } from './webhook-configurations.js'

const validateMatchResources = (match: MatchResources, field: string): readonly FieldError[] =>
  joined(
    validateMatchPolicy(match.matchPolicy, `${field}.matchPolicy`),
    validateLabelSelector(match.namespaceSelector, `${field}.namespaceSelector`),
    // The field name of kube-apiserver.
    validateLabelSelector(match.objectSelector, `${field}.labelSelector`),
    checkEach(match.resourceRules, `${field}.resourceRules`, validateNamedRule),
    checkEach(match.excludeResourceRules, `${field}.excludeResourceRules`, validateNamedRule),
  )

function validateMatchPolicy(policy: string | undefined, field: string): readonly FieldError[] {
  if (policy === undefined) return [required(field)]
  return matchPolicies.includes(policy) ? noErrors : [notSupported(field, policy, matchPolicies)]
}

function validateNamedRule(rule: NamedRuleWithOperations, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  const names = checkEach(rule.resourceNames, `${field}.resourceNames`, (name, at) => {
    const errors = checkText(name, at, (text) => pathSegmentProblems(text, false))
    const isDuplicate = seen.has(name)
    seen.add(name)
    return isDuplicate ? [...errors, duplicate(at, name)] : errors
  })
  return joined(names, validateOperationRule(rule, field))
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

/** Maximum characters of all validation expressions that are compiled on the main thread: a few microseconds each. */
const costlyExpressionChars = 5000

const isCostlyToValidate = ({ spec: { validations = [] } = {} }: ValidatingAdmissionPolicy): boolean =>
  validations.reduce((sum, { expression = '' }) => sum + expression.length, 0) > costlyExpressionChars

function validateValidatingAdmissionPolicySpec(spec: ValidatingAdmissionPolicySpec): readonly FieldError[] {
  const { failurePolicy = '', matchConstraints, validations = [] } = spec
  return joined(
    failurePolicies.includes(failurePolicy) ? noErrors : [notSupported('spec.failurePolicy', failurePolicy, failurePolicies)],
    checkOptional(spec.paramKind, 'spec.paramKind', validateParamKind),
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
  const kindErrors =
    kind === ''
      ? [required(`${field}.kind`)]
      : problems.length === 0
        ? noErrors
        : [invalid(`${field}.kind`, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
  return joined(validateGroupVersion(apiVersion, `${field}.apiVersion`), kindErrors)
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
  versions: [{ name: 'v1alpha1', schema: validatingAdmissionPolicySchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withPolicyDefaults,
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) => withSpecGeneration(next, old, validatingAdmissionPolicySchema.fields.spec.node),
  validate: ({ spec = {} }) => validateValidatingAdmissionPolicySpec(spec),
  isCostlyToValidate,
  checks: { update: ['metadata', 'validate'] },
  versionRequiredOnUpdate: true,
  anyFinalizer: true,
  table: tableOf<ValidatingAdmissionPolicy>(
    nameColumn,
    countColumn('Validations', 'Number of validations.', ({ spec: { validations = [] } = {} }) => validations.length),
    textColumn('ParamKind', 'Kind of the parameters.', ({ spec: { paramKind } = {} }) =>
      paramKind === undefined ? '<unset>' : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`,
    ),
    ageColumn,
  ),
})

const validateValidatingAdmissionPolicyBindingSpec = ({
  policyName = '',
  paramRef,
  matchResources,
}: ValidatingAdmissionPolicyBindingSpec): readonly FieldError[] =>
  joined(
    policyName === '' ? [required('spec.policyName')] : checkText(policyName, 'spec.policyName', dnsSubdomain),
    checkOptional(paramRef, 'spec.paramRef', validateParamRef),
    // The field name is misspelt in kube-apiserver, too.
    checkOptional(matchResources, 'spec.matchResouces', validateMatchResources),
  )

const validateParamRef = ({ name = '' }: ParamRef, field: string): readonly FieldError[] =>
  checkText(name, `${field}.name`, (text) => pathSegmentProblems(text, false))

function describeParams(ref: ParamRef | undefined): string {
  if (ref === undefined) return '<unset>'
  const { name = '', namespace = '' } = ref
  return namespace === '' ? name : `${namespace}/${name}`
}

export const validatingAdmissionPolicyBinding = defineResource<ValidatingAdmissionPolicyBinding>({
  group: { stem: 'admissionregistration' },
  kind: 'ValidatingAdmissionPolicyBinding',
  resource: 'validatingadmissionpolicybindings',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1alpha1', schema: validatingAdmissionPolicyBindingSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: withBindingDefaults,
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) => withSpecGeneration(next, old, validatingAdmissionPolicyBindingSchema.fields.spec.node),
  validate: ({ spec = {} }) => validateValidatingAdmissionPolicyBindingSpec(spec),
  checks: { update: ['metadata', 'validate'] },
  versionRequiredOnUpdate: true,
  anyFinalizer: true,
  table: tableOf<ValidatingAdmissionPolicyBinding>(
    nameColumn,
    textColumn('PolicyName', 'Bound policy.', ({ spec: { policyName = '' } = {} }) => policyName),
    textColumn('ParamRef', 'Object with the parameters.', ({ spec: { paramRef } = {} }) => describeParams(paramRef)),
    ageColumn,
  ),
})
