// MutatingWebhookConfiguration and ValidatingWebhookConfiguration: defaults, validation of rules and webhooks.

import { asFirstGeneration, asNextGeneration } from '../../api/definition/generation.js'
import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import type { ApiObject } from '../../api/object.js'
import { checkEach, checkOptionalChoice, checkPresent, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsSubdomain } from '../../api/validation/name-formats.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { validateWebhookClientConfig } from '../../api/validation/webhook-client-config.js'
import { knownReviewVersions, validateReviewVersions } from '../../api/validation/webhook-review-versions.js'
import { hasSentEmpty, isSentEmpty } from '../../schema/json/sent-empty.js'
import type { SchemaNode } from '../../schema/node.js'
import { mapItems, withChanged, withMissing } from '../core/pod-spec/visit-containers.js'
import { ageColumn, countColumn, nameColumn, tableOf } from '../printer-columns.js'
import { withScope } from './policy/policy-defaults.js'
import {
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  mutatingWebhookConfiguration as mutatingWebhookConfigurationSchema,
  type RuleWithOperations,
  type ValidatingWebhook,
  type ValidatingWebhookConfiguration,
  validatingWebhookConfiguration as validatingWebhookConfigurationSchema,
} from './v1.schema.js'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

export const validateOperationRule = (rule: RuleWithOperations, field: string): readonly FieldError[] =>
  joined(
    validateOperations(rule.operations ?? [], `${field}.operations`),
    checkWildcardList(rule.apiGroups ?? [], `${field}.apiGroups`, 'API groups'),
    checkWildcardList(rule.apiVersions ?? [], `${field}.apiVersions`, 'API versions'),
    checkEach(rule.apiVersions, `${field}.apiVersions`, checkPresent),
    validateRuleResources(rule.resources ?? [], `${field}.resources`),
    checkOptionalChoice(rule.scope, `${field}.scope`, scopes),
  )

function checkWildcardList(list: readonly string[], field: string, noun: string): readonly FieldError[] {
  if (list.length === 0) return [required(field)]
  return list.length > 1 && list.includes('*') ? [invalid(field, list, `if '*' is present, must not specify other ${noun}`)] : noErrors
}

const validateOperations = (list: readonly string[], field: string): readonly FieldError[] =>
  joined(
    checkWildcardList(list, field, 'operations'),
    checkEach(list, field, (operation, at) => (operations.includes(operation) ? noErrors : [notSupported(at, operation, operations)])),
  )

function validateRuleResources(resources: readonly string[], field: string): readonly FieldError[] {
  if (resources.length === 0) return [required(field)]
  const errors = [...validateEachResource(resources, field)]
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  // Only the last resource without a subresource is compared, as in kube-apiserver.
  const lastWithoutSubresource = resources.findLast((resource) => resource !== '' && !resource.includes('/'))
  if (resources.includes('*') && lastWithoutSubresource !== '*') {
    errors.push(invalid(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

function validateEachResource(resources: readonly string[], field: string): readonly FieldError[] {
  const withAnySubresource = new Set<string>()
  const withAnyResource = new Set<string>()
  return checkEach(resources, field, (text, at) => {
    if (text === '') return [required(at)]
    const slash = text.indexOf('/')
    if (slash < 0) return noErrors
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    const coveredError = (pattern: string): FieldError => invalid(at, text, `if '${pattern}' is present, must not specify ${text}`)
    const errors: FieldError[] = []
    if (withAnySubresource.has(resource)) errors.push(coveredError(`${resource}/*`))
    if (withAnyResource.has(subresource)) errors.push(coveredError(`*/${subresource}`))
    if (subresource === '*') withAnySubresource.add(resource)
    if (resource === '*') withAnyResource.add(subresource)
    return errors
  })
}

export const failurePolicies = ['Fail', 'Ignore']
export const matchPolicies = ['Equivalent', 'Exact']
const allowedSideEffects = ['None', 'NoneOnDryRun']
const reinvocationPolicies = ['IfNeeded', 'Never']
const maxTimeoutSeconds = 30
const missingVersions = `must specify one of ${knownReviewVersions.join(', ')}`

const webhookDefaults = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
}

function withWebhookDefaults<T extends ValidatingWebhook>(webhook: T): T {
  const complete = withMissing<ValidatingWebhook>(webhook, webhookDefaults)
  const withPort = withChanged(complete, 'clientConfig', (client) =>
    withChanged(client, 'service', (service) => withMissing(service, { port: 443 })),
  )
  return withChanged(withPort, 'rules', (rules) => mapItems(rules, withScope)) as T
}

interface Webhooks {
  readonly webhooks?: readonly ValidatingWebhook[]
}

/** For the generation, an empty list differs from an absent one. */
const isSameWebhooks = (node: SchemaNode, next: Webhooks, old: Webhooks): boolean =>
  !isSentEmpty(next, 'webhooks') && !hasSentEmpty(next.webhooks) && sameBySchema(node, next.webhooks ?? [], old.webhooks ?? [])

function validateWebhooks(
  webhooks: readonly MutatingWebhook[] | undefined,
  { allowsPlainWebhooks = false }: Pick<RuleContext, 'allowsPlainWebhooks'> = {},
): readonly FieldError[] {
  const names = new Set<string>()
  return checkEach(webhooks, 'webhooks', (webhook, field) => {
    const { name = '' } = webhook
    const isDuplicate = name !== '' && names.has(name)
    names.add(name)
    return joined(
      validateWebhook(webhook, field),
      validateWebhookClientConfig(webhook.clientConfig ?? {}, `${field}.clientConfig`, allowsPlainWebhooks),
      validateReviewVersions(webhook.admissionReviewVersions ?? [], `${field}.admissionReviewVersions`, missingVersions),
      isDuplicate ? [duplicate(`${field}.name`, name)] : noErrors,
    )
  })
}

const validateWebhook = (webhook: MutatingWebhook, field: string): readonly FieldError[] =>
  joined(
    checkQualifiedDomain(webhook.name ?? '', `${field}.name`),
    checkEach(webhook.rules, `${field}.rules`, validateOperationRule),
    checkOptionalChoice(webhook.failurePolicy, `${field}.failurePolicy`, failurePolicies),
    checkOptionalChoice(webhook.matchPolicy, `${field}.matchPolicy`, matchPolicies),
    validateSideEffects(webhook.sideEffects, `${field}.sideEffects`),
    validateTimeout(webhook.timeoutSeconds, `${field}.timeoutSeconds`),
    validateLabelSelector(webhook.namespaceSelector, `${field}.namespaceSelector`),
    validateLabelSelector(webhook.objectSelector, `${field}.objectSelector`),
    checkOptionalChoice(webhook.reinvocationPolicy, `${field}.reinvocationPolicy`, reinvocationPolicies),
  )

function checkQualifiedDomain(name: string, field: string): readonly FieldError[] {
  if (name === '') return [required(field)]
  const problems = dnsSubdomain(name)
  if (problems.length > 0) return [invalid(field, name, problems.join(','))]
  if (name.split('.').length < 3) return [invalid(field, name, 'should be a domain with at least three segments separated by dots')]
  return noErrors
}

/** Webhooks must be safe to call in a dry run. */
function validateSideEffects(effects: string | undefined, field: string): readonly FieldError[] {
  if (effects === undefined) return [required(field, `must specify one of ${allowedSideEffects.join(', ')}`)]
  return allowedSideEffects.includes(effects) ? noErrors : [notSupported(field, effects, allowedSideEffects)]
}

const validateTimeout = (seconds: number | undefined, field: string): readonly FieldError[] =>
  seconds === undefined || (seconds >= 1 && seconds <= maxTimeoutSeconds)
    ? noErrors
    : [invalid(field, seconds, `the timeout value must be between 1 and ${maxTimeoutSeconds} seconds`)]

interface WithWebhooks extends ApiObject {
  readonly webhooks?: readonly unknown[]
}

const webhooksTable = tableOf<WithWebhooks>(
  nameColumn,
  countColumn('Webhooks', 'Number of webhooks.', ({ webhooks }) => webhooks?.length ?? 0),
  ageColumn,
)

const withMutatingWebhookDefaults = (webhook: MutatingWebhook): MutatingWebhook =>
  withMissing(withWebhookDefaults(webhook), { reinvocationPolicy: 'Never' })

export const mutatingWebhookConfiguration = defineResource<MutatingWebhookConfiguration>({
  group: { stem: 'admissionregistration' },
  kind: 'MutatingWebhookConfiguration',
  resource: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema: mutatingWebhookConfigurationSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (configuration) => withChanged(configuration, 'webhooks', (webhooks) => mapItems(webhooks, withMutatingWebhookDefaults)),
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) =>
    isSameWebhooks(mutatingWebhookConfigurationSchema.fields.webhooks.node, next, old) ? next : asNextGeneration(next, old),
  validate: ({ webhooks }, context) => validateWebhooks(webhooks, context),
  anyFinalizer: true,
  checks: { update: ['metadata', 'validate'] },
  versionRequiredOnUpdate: true,
  table: webhooksTable,
})

export const validatingWebhookConfiguration = defineResource<ValidatingWebhookConfiguration>({
  group: { stem: 'admissionregistration' },
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema: validatingWebhookConfigurationSchema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (configuration) => withChanged(configuration, 'webhooks', (webhooks) => mapItems(webhooks, withWebhookDefaults)),
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) =>
    isSameWebhooks(validatingWebhookConfigurationSchema.fields.webhooks.node, next, old) ? next : asNextGeneration(next, old),
  validate: ({ webhooks }, context) => validateWebhooks(webhooks, context),
  anyFinalizer: true,
  checks: { update: ['metadata', 'validate'] },
  versionRequiredOnUpdate: true,
  table: webhooksTable,
})
