// Webhooks that have a say in whether an object may enter, and change nothing.

import { changedItems } from '../../api/changed-items.js'
import { defineResource } from '../../api/definition.js'
import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { withChanged } from '../core/pod-spec/missing-members.js'
import { validatingWebhookConfiguration as schema, type ValidatingWebhookConfiguration } from './v1.schema.js'
import { isSameWebhooks, validateWebhooks, withWebhookDefaults } from './webhook-rules.js'
import { webhooksTable } from './webhooks-table.js'

export const validatingWebhookConfiguration = defineResource<ValidatingWebhookConfiguration>({
  group: { stem: 'admissionregistration' },
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults: (configuration) => withChanged(configuration, 'webhooks', (webhooks) => changedItems(webhooks, withWebhookDefaults)),
  prepareCreate: asFirstGeneration,
  prepareUpdate: (next, old) => (isSameWebhooks(schema.fields.webhooks.node, next, old) ? next : asNextGeneration(next, old)),
  validate: ({ webhooks }, context) => validateWebhooks(webhooks, context),
  anyFinalizer: true,
  checks: { update: ['metadata', 'own'] },
  versionRequiredOnUpdate: true,
  table: webhooksTable,
})
