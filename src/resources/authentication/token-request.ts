// Requests for a token of a service account, which are a subresource of the account: how long it shall be valid, and for whom.

import { defineAction } from '../../api/define-special.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { noErrors } from '../../api/validation/fields.js'
import { withChanged, withMissing } from '../core/pod-spec/missing-members.js'
import { tokenRequest as schema, type TokenRequest } from './v1.schema.js'

const leastSeconds = 600
const mostSeconds = 2 ** 32

const withLifetime = (request: TokenRequest): TokenRequest =>
  withChanged(withMissing(request, { spec: {} }), 'spec', (spec) => withMissing(spec, { expirationSeconds: 3600 }))

export function validateTokenRequest({ spec }: TokenRequest): readonly FieldError[] {
  const seconds = spec?.expirationSeconds ?? 0
  const wrong = (problem: string): readonly FieldError[] => [invalid('spec.expirationSeconds', seconds, problem)]
  if (seconds < leastSeconds) return wrong('may not specify a duration less than 10 minutes')
  return seconds > mostSeconds ? wrong('may not specify a duration larger than 2^32 seconds') : noErrors
}

/** The subresource `token` of service accounts. Issuing the token is the business of those who know the keys. */
export const tokenSubresource = defineAction({
  name: 'token',
  action: 'issueToken',
  body: {
    kind: 'TokenRequest',
    group: { stem: 'authentication' },
    version: 'v1',
    schema,
    defaults: withLifetime,
    validate: validateTokenRequest,
  },
})
