// TokenReview: authenticates a bearer token on behalf of another server.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { authenticateWith, problemText, tokenCredentials } from '../../auth/authenticate.js'
import { type Review, withStatus } from './virtual-resource-types.js'

interface TokenReview extends ApiObject {
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] }
  readonly status?: { readonly user?: object }
}

/** On failure status.user of the request is returned as sent, like kube-apiserver does. */
export const reviewToken: Review = async (engine, _call, review) => {
  const { spec: { token = '', audiences = [] } = {}, status: sentStatus = {} } = review as TokenReview
  const requestedAudiences = audiences.length === 0 ? undefined : audiences
  const found = await authenticateWith(engine.access.authenticators, tokenCredentials(token, requestedAudiences))
  if (found?.user === undefined) {
    return withStatus(review, { user: sentStatus.user ?? {}, error: problemText(found ?? { problems: ['invalid bearer token'] }) })
  }
  const { user } = found
  return withStatus(review, {
    authenticated: true,
    user: { username: user.name, uid: user.uid, groups: user.groups, extra: user.extra },
    ...(found.audiences === undefined ? {} : { audiences: found.audiences }),
  })
}
