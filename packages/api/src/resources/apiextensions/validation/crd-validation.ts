// Validation of a CRD on create and update: names, group, versions, conversion webhook, stored versions.

import type { RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkChoice, checkEach, checkOptional, checkPresent, checkUnchanged, joined, noErrors } from '../../../api/validation/checks.js'
import { dns1035Label, dnsSubdomain } from '../../../api/validation/name-formats.js'
import { validateWebhookClientConfig } from '../../../api/validation/webhook-client-config.js'
import { validateReviewVersions } from '../../../api/validation/webhook-review-versions.js'
import { withChanged, withMissing } from '../../core/pod-spec/visit-containers.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { hasDefaults } from '../schema/schema-search.js'
import type {
  CustomResourceConversion as Conversion,
  CustomResourceDefinition as Crd,
  CustomResourceDefinitionNames as Names,
  CustomResourceDefinitionSpec as Spec,
} from '../v1.schema.js'
import { validateApproval } from './crd-api-approval.js'
import { validateSchemasPresent, validateSharedParts, validateVersions } from './crd-version-validation.js'

export const withNames = (spec: Spec): Spec =>
  withChanged(spec, 'names', (names) => {
    const { kind = '' } = names
    return kind === '' ? names : withMissing(names, { singular: kind.toLowerCase(), listKind: `${kind}List` })
  })

/** Reports all problems as one error. The empty text means not set. */
function checkLabel(text: string, field: string): readonly FieldError[] {
  const problems = text === '' ? [] : dns1035Label(text)
  return problems.length === 0 ? noErrors : [invalid(field, text, problems.join(','))]
}

function checkKind(kind: string, field: string): readonly FieldError[] {
  const problems = kind === '' ? [] : dns1035Label(kind.toLowerCase())
  return problems.length === 0 ? noErrors : [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

const checkListedLabel = (text: string, field: string): readonly FieldError[] =>
  text === '' ? [invalid(field, text, dns1035Label(text).join(','))] : checkLabel(text, field)

function validateNames(names: Names, field: string): readonly FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '' } = names
  return joined(
    checkLabel(plural, `${field}.plural`),
    checkLabel(singular, `${field}.singular`),
    checkKind(kind, `${field}.kind`),
    checkKind(listKind, `${field}.listKind`),
    checkEach(names.shortNames, `${field}.shortNames`, checkListedLabel),
    kind !== '' && kind === listKind ? [invalid(`${field}.listKind`, listKind, 'kind and listKind may not be the same')] : noErrors,
    checkEach(names.categories, `${field}.categories`, checkListedLabel),
  )
}

/** Drops a webhook without clientConfig and versions, unless the strategy is Webhook, as in kube-apiserver. */
function withoutEmptyWebhook(conversion: Conversion): Conversion {
  const { webhook, ...rest } = conversion
  const isEmpty = webhook !== undefined && webhook.clientConfig === undefined && (webhook.conversionReviewVersions ?? []).length === 0
  return isEmpty && conversion.strategy !== 'Webhook' ? rest : conversion
}

export const withConversion = (spec: Spec): Spec =>
  withChanged(withMissing(spec, { conversion: { strategy: 'None' } }), 'conversion', (conversion) =>
    withChanged(withoutEmptyWebhook(conversion), 'webhook', (webhook) =>
      withChanged(webhook, 'clientConfig', (client) => withChanged(client, 'service', (service) => withMissing(service, { port: 443 }))),
    ),
  )

const clientField = 'spec.conversion.webhookClientConfig'
const versionsField = 'spec.conversion.conversionReviewVersions'

/** Error paths name the fields of v1beta1, as in kube-apiserver. */
function validateConversion({ strategy = '', webhook }: Conversion): readonly FieldError[] {
  const reviewVersions = webhook?.conversionReviewVersions ?? []
  const target = webhook?.clientConfig
  const strategyErrors = checkChoice(strategy, 'spec.conversion.strategy', ['None', 'Webhook'])
  if (strategy !== 'Webhook') {
    const problem = 'should not be set when strategy is not set to Webhook'
    return joined(
      strategyErrors,
      target === undefined ? noErrors : [forbidden(clientField, problem)],
      reviewVersions.length === 0 ? noErrors : [forbidden(versionsField, problem)],
    )
  }
  return joined(
    target === undefined
      ? [required(clientField, 'required when strategy is set to Webhook')]
      : validateWebhookClientConfig(target, clientField),
    validateReviewVersions(reviewVersions, versionsField),
  )
}

export function validateCrd(crd: Crd, context: RuleContext): readonly FieldError[] {
  return joined(
    checkCrdName(crd.metadata?.generateName ?? '', 'metadata.generateName', crd.spec ?? {}),
    checkCrdName(crd.metadata?.name ?? '', 'metadata.name', crd.spec ?? {}),
    validateSpec(crd.spec ?? {}),
    validateStatus(crd),
    validateStoredVersions(crd),
    validateApproval(crd.spec?.group ?? '', { next: crd.metadata ?? {} }, context.identity),
    validatePruning(crd.spec ?? {}),
  )
}

export function validateCrdUpdate(next: Crd, old: Crd, context: RuleContext): readonly FieldError[] {
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

/** The name must be `<plural>.<group>`. */
function checkCrdName(name: string, field: string, { names, group = '' }: Spec): readonly FieldError[] {
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
    checkOptional(conversion, 'spec.conversion', validateConversion),
  )
}

function validateGroup(group: string): readonly FieldError[] {
  if (group === '') return checkPresent(group, 'spec.group')
  const problems = dnsSubdomain(group)
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))]
  return group.includes('.') ? noErrors : [invalid('spec.group', group, 'should be a domain with at least one dot')]
}

/** Group and plural are immutable; scope and kind become immutable once the CRD is established. */
function validateFixedNames(spec: Spec, { spec: old = {}, status }: Crd): readonly FieldError[] {
  const isEstablished = (status?.conditions ?? []).some(({ type, status: text }) => type === 'Established' && text === 'True')
  const establishedErrors = isEstablished
    ? joined(
        checkUnchanged(spec.scope ?? '', old.scope ?? '', 'spec.scope'),
        checkUnchanged(spec.names?.kind ?? '', old.names?.kind ?? '', 'spec.names.kind'),
      )
    : noErrors
  return joined(
    establishedErrors,
    checkUnchanged(spec.group ?? '', old.group ?? '', 'spec.group'),
    checkUnchanged(spec.names?.plural ?? '', old.names?.plural ?? '', 'spec.names.plural'),
  )
}

export const validateStatus = ({ status }: Crd): readonly FieldError[] => validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames')

/** spec.versions must contain all versions in which objects may be stored. */
function validateStoredVersions({ spec, status }: Crd): readonly FieldError[] {
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
