// What a definition of a custom kind must be, when it is made and when it changes.

import type { RuleContext } from '../../api/definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { checkChoice, checkPart, checkPresent, joined } from '../../api/validation/collect.js'
import { checkUnchanged, noErrors } from '../../api/validation/fields.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { validateApproval } from './api-approval.js'
import { validateConversion } from './conversion-rules.js'
import { validateNames } from './definition-names.js'
import type { JsonSchema } from './json-schema.js'
import { hasDefaults } from './schema-search.js'
import type { CustomResourceDefinition as Definition, CustomResourceDefinitionSpec as Spec } from './v1.schema.js'
import { validateSchemasPresent, validateSharedParts, validateVersions } from './version-rules.js'

export function validateDefinition(definition: Definition, context: RuleContext): readonly FieldError[] {
  return joined(
    checkOwnName(definition.metadata?.generateName ?? '', 'metadata.generateName', definition.spec ?? {}),
    checkOwnName(definition.metadata?.name ?? '', 'metadata.name', definition.spec ?? {}),
    validateSpec(definition.spec ?? {}),
    validateStatus(definition),
    validateStoredVersions(definition),
    validateApproval(definition.spec?.group ?? '', { next: definition.metadata ?? {} }, context.identity),
    validatePruning(definition.spec ?? {}),
  )
}

export function validateDefinitionChange(next: Definition, old: Definition, context: RuleContext): readonly FieldError[] {
  const { spec = {} } = next
  return joined(
    validateSpec(spec),
    validateFixedNames(spec, old),
    validateStatus(next),
    validateStoredVersions(next),
    validateApproval(spec.group ?? '', { next: next.metadata ?? {}, old: old.metadata ?? {} }, context.identity),
    validatePruning(spec),
  )
}

/** The name says the resource and the group again, so that there is one definition for each. */
function checkOwnName(name: string, field: string, { names, group = '' }: Spec): readonly FieldError[] {
  if (name === '' || name === `${names?.plural ?? ''}.${group}`) return noErrors
  return [invalid(field, name, 'must be spec.names.plural+"."+spec.group')]
}

function validateSpec(spec: Spec): readonly FieldError[] {
  const { names = {}, versions = [], conversion, preserveUnknownFields = false } = spec
  return joined(
    validateGroup(spec.group ?? ''),
    checkChoice(spec.scope, 'spec.scope', ['Cluster', 'Namespaced']),
    validateSchemasPresent(versions),
    preserveUnknownFields && versions.some(({ schema }) => hasDefaults((schema?.openAPIV3Schema ?? {}) as JsonSchema))
      ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
      : noErrors,
    validateVersions(versions),
    ...(['plural', 'singular', 'kind', 'listKind'] as const).map((name) => checkPresent(names[name], `spec.names.${name}`)),
    validateNames(names, 'spec.names'),
    validateSharedParts(spec),
    preserveUnknownFields && conversion !== undefined && conversion.strategy !== 'None'
      ? [invalid('spec.conversion.strategy', conversion.strategy ?? '', 'must be None if spec.preserveUnknownFields is true')]
      : noErrors,
    checkPart(conversion, 'spec.conversion', validateConversion),
  )
}

function validateGroup(group: string): readonly FieldError[] {
  if (group === '') return checkPresent(group, 'spec.group')
  const problems = dnsSubdomain(group)
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))]
  return group.includes('.') ? noErrors : [invalid('spec.group', group, 'should be a domain with at least one dot')]
}

/** Objects lie under the group and the plural; once some may exist, they also have this kind and this scope. */
function validateFixedNames(spec: Spec, { spec: old = {}, status }: Definition): readonly FieldError[] {
  const isEstablished = (status?.conditions ?? []).some(({ type, status: text }) => type === 'Established' && text === 'True')
  const established = isEstablished
    ? joined(
        checkUnchanged(spec.scope ?? '', old.scope ?? '', 'spec.scope'),
        checkUnchanged(spec.names?.kind ?? '', old.names?.kind ?? '', 'spec.names.kind'),
      )
    : noErrors
  return joined(
    established,
    checkUnchanged(spec.group ?? '', old.group ?? '', 'spec.group'),
    checkUnchanged(spec.names?.plural ?? '', old.names?.plural ?? '', 'spec.names.plural'),
  )
}

export const validateStatus = ({ status }: Definition): readonly FieldError[] =>
  validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames')

/** A version in which objects may still be stored must stay, and the one in which they are stored now is among them. */
function validateStoredVersions({ spec, status }: Definition): readonly FieldError[] {
  const field = 'status.storedVersions'
  const stored = status?.storedVersions ?? []
  const versions = spec?.versions ?? []
  if (stored.length === 0) return [invalid(field, stored, 'must have at least one stored version')]
  return [
    ...versions
      .filter(({ name = '', storage }) => storage === true && !stored.includes(name))
      .map(({ name = '' }) => invalid(field, stored, `must have the storage version ${name}`)),
    ...stored.flatMap((version, i) =>
      versions.some(({ name = '' }) => name === version) ? [] : [invalid(`${field}[${i}]`, version, 'must appear in spec.versions')],
    ),
  ]
}

const validatePruning = ({ preserveUnknownFields = false }: Spec): readonly FieldError[] =>
  preserveUnknownFields
    ? [
        invalid(
          'spec.preserveUnknownFields',
          true,
          'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ),
      ]
    : noErrors
