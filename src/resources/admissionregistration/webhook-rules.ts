// What both kinds of webhooks share: how one is completed and what it must say.

import { changedItems } from '../../api/changed-items.js'
import type { RuleContext } from '../../api/definition.js'
import { duplicate, type FieldError, invalid, notSupported, required } from '../../api/field-error.js'
import { checkEach, checkOptionalChoice, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { knownReviewVersions, validateReviewVersions } from '../../api/validation/review-versions.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { validateWebhookTarget } from '../../api/validation/webhook-target.js'
import type { SchemaNode } from '../../schema/node.js'
import { hasSentEmpty, isSentEmpty } from '../../schema/sent-empty.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { validateOperationRule, withScope } from './operation-rules.js'
import type { MutatingWebhook, ValidatingWebhook } from './v1.schema.js'

export const failurePolicies = ['Fail', 'Ignore']
export const matchPolicies = ['Equivalent', 'Exact']
const harmlessEffects = ['None', 'NoneOnDryRun']
const reinvocationPolicies = ['IfNeeded', 'Never']
const timeoutLimitSeconds = 30
const missingVersions = `must specify one of ${knownReviewVersions.join(', ')}`

const filledIn = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
}

export function withWebhookDefaults<T extends ValidatingWebhook>(webhook: T): T {
  const complete = withMissing<ValidatingWebhook>(webhook, filledIn)
  const aimed = withChanged(complete, 'clientConfig', (client) =>
    withChanged(client, 'service', (service) => withMissing(service, { port: 443 })),
  )
  return withChanged(aimed, 'rules', (rules) => changedItems(rules, withScope)) as T
}

interface Webhooks {
  readonly webhooks?: readonly ValidatingWebhook[]
}

/** Whether a change leaves the webhooks as they are; here an empty list is another one than none. */
export const isSameWebhooks = (node: SchemaNode, next: Webhooks, old: Webhooks): boolean =>
  !isSentEmpty(next, 'webhooks') && !hasSentEmpty(next.webhooks) && sameBySchema(node, next.webhooks ?? [], old.webhooks ?? [])

/** Everything about the webhooks of one configuration, which are told apart by name. */
export function validateWebhooks(
  webhooks: readonly MutatingWebhook[] | undefined,
  { allowsPlainHooks = false }: Pick<RuleContext, 'allowsPlainHooks'> = {},
): readonly FieldError[] {
  const names = new Set<string>()
  return checkEach(webhooks, 'webhooks', (webhook, field) => {
    const { name = '' } = webhook
    const isSecond = name !== '' && names.has(name)
    names.add(name)
    return joined(
      validateWebhook(webhook, field),
      validateWebhookTarget(webhook.clientConfig ?? {}, `${field}.clientConfig`, allowsPlainHooks),
      validateReviewVersions(webhook.admissionReviewVersions ?? [], `${field}.admissionReviewVersions`, missingVersions),
      isSecond ? [duplicate(`${field}.name`, name)] : noErrors,
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

/** A domain of three parts at least, so that names of different owners do not meet. */
function checkQualifiedDomain(name: string, field: string): readonly FieldError[] {
  if (name === '') return [required(field)]
  const problems = dnsSubdomain(name)
  if (problems.length > 0) return [invalid(field, name, problems.join(','))]
  if (name.split('.').length < 3) return [invalid(field, name, 'should be a domain with at least three segments separated by dots')]
  return noErrors
}

/** A webhook must be safe to call for a request that is only tried out. */
function validateSideEffects(effects: string | undefined, field: string): readonly FieldError[] {
  if (effects === undefined) return [required(field, `must specify one of ${harmlessEffects.join(', ')}`)]
  return harmlessEffects.includes(effects) ? noErrors : [notSupported(field, effects, harmlessEffects)]
}

const validateTimeout = (seconds: number | undefined, field: string): readonly FieldError[] =>
  seconds === undefined || (seconds >= 1 && seconds <= timeoutLimitSeconds)
    ? noErrors
    : [invalid(field, seconds, `the timeout value must be between 1 and ${timeoutLimitSeconds} seconds`)]
