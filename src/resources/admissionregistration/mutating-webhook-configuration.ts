// Webhooks that may change an object on its way in.

import { changedItems } from '../../api/changed-items.js'
import { defineResource } from '../../api/definition.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { type MutatingWebhook, type MutatingWebhookConfiguration, mutatingWebhookConfiguration as schema } from './v1.schema.js'
import { isSameWebhooks, validateWebhooks, withWebhookDefaults } from './webhook-rules.js'
import { webhooksTable } from './webhooks-table.js'

const withDefaults = (webhook: MutatingWebhook): MutatingWebhook =>
  withMissing(withWebhookDefaults(webhook), { reinvocationPolicy: 'Never' })

export const mutatingWebhookConfiguration = defineResource<MutatingWebhookConfiguration>({
  group: { stem: 'admissionregistration' },
  kind: 'MutatingWebhookConfiguration',
  resource: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (configuration) => withChanged(configuration, 'webhooks', (webhooks) => changedItems(webhooks, withDefaults)),
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) => (isSameWebhooks(schema.fields.webhooks.node, next, old) ? next : asNextGeneration(next, old)),
  validate: ({ webhooks }, context) => validateWebhooks(webhooks, context),
  anyFinalizer: true,
  checks: { update: ['metadata', 'own'] },
  versionRequiredOnUpdate: true,
  table: webhooksTable,
})
