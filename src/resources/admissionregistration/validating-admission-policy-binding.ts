// Bindings of policies: where a policy is in force, and with which parameters.

import { defineResource } from '../../api/definition.js'
import { type FieldError, required } from '../../api/field-error.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkPart, joined } from '../../api/validation/collect.js'
import { checkText } from '../../api/validation/fields.js'
import { dnsSubdomainProblems, pathSegmentProblems } from '../../api/validation/name-problems.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { withChanged } from '../core/pod-spec/missing-members.js'
import { validateMatchResources, withMatchDefaults } from './match-resources.js'
import {
  type ParamRef,
  validatingAdmissionPolicyBinding as schema,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingSpec,
} from './v1alpha1.schema.js'

const validateSpec = ({ policyName = '', paramRef, matchResources }: ValidatingAdmissionPolicyBindingSpec): readonly FieldError[] =>
  joined(
    policyName === '' ? [required('spec.policyName')] : checkText(policyName, 'spec.policyName', dnsSubdomain),
    checkPart(paramRef, 'spec.paramRef', validateParamRef),
    // The name has lost a letter in what clients have come to know.
    checkPart(matchResources, 'spec.matchResouces', validateMatchResources),
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
  gate: 'ValidatingAdmissionPolicy',
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (binding) => withChanged(binding, 'spec', (spec) => withChanged(spec, 'matchResources', withMatchDefaults)),
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) =>
    sameBySchema(schema.fields.spec.node, next.spec ?? {}, old.spec ?? {}) ? next : asNextGeneration(next, old),
  validate: ({ spec = {} }) => validateSpec(spec),
  checks: { update: ['metadata', 'own'] },
  versionRequiredOnUpdate: true,
  anyFinalizer: true,
  table: {
    columns: [
      nameColumn,
      textColumn('PolicyName', 'The policy that is put into force.'),
      textColumn('ParamRef', 'The object with the parameters.'),
      ageColumn,
    ],
    cells: ({ metadata, spec: { policyName = '', paramRef } = {} }, { now }) => [
      metadata?.name ?? '',
      policyName,
      describeParams(paramRef),
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
