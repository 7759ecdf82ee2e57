// How objects of a custom kind get from one version to another: by changing nothing but the version, or by a webhook.

import { type FieldError, forbidden, required } from '../../api/field-error.js'
import { checkChoice, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateReviewVersions } from '../../api/validation/review-versions.js'
import { validateWebhookTarget } from '../../api/validation/webhook-target.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import type { CustomResourceConversion as Conversion, CustomResourceDefinitionSpec as Spec } from './v1.schema.js'

export const withConversion = (spec: Spec): Spec =>
  withChanged(withMissing(spec, { conversion: { strategy: 'None' } }), 'conversion', (conversion) =>
    withChanged(conversion, 'webhook', (webhook) =>
      withChanged(webhook, 'clientConfig', (client) => withChanged(client, 'service', (service) => withMissing(service, { port: 443 }))),
    ),
  )

const client = 'spec.conversion.webhookClientConfig'
const versions = 'spec.conversion.conversionReviewVersions'

/** The webhook's parts are spoken of under the names that they had beside the strategy. */
export function validateConversion({ strategy = '', webhook }: Conversion): readonly FieldError[] {
  const reviewVersions = webhook?.conversionReviewVersions ?? []
  const target = webhook?.clientConfig
  const ofStrategy = checkChoice(strategy, 'spec.conversion.strategy', ['None', 'Webhook'])
  if (strategy !== 'Webhook') {
    const problem = 'should not be set when strategy is not set to Webhook'
    return joined(
      ofStrategy,
      target === undefined ? noErrors : [forbidden(client, problem)],
      reviewVersions.length === 0 ? noErrors : [forbidden(versions, problem)],
    )
  }
  return joined(
    target === undefined ? [required(client, 'required when strategy is set to Webhook')] : validateWebhookTarget(target, client),
    validateReviewVersions(reviewVersions, versions),
  )
}
