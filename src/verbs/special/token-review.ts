// A question about a token: whose is it?

import type { ApiObject } from '../../api/object.js'
import { authenticateWith, tokenCredentials } from '../../auth/authenticate.js'
import { answered, type Review } from './signatures.js'

interface TokenReview extends ApiObject {
  readonly spec?: { readonly token?: string }
  readonly status?: { readonly user?: object }
}

/** Where there is no user to tell of, what the client claimed stays, without a word that it is so. */
export const reviewToken: Review = async (engine, _call, question) => {
  const { spec: { token = '' } = {}, status: claimed = {} } = question as TokenReview
  const user = token === '' ? undefined : await authenticateWith(engine.access.authenticators, tokenCredentials(token))
  if (user === undefined) return answered(question, { user: claimed.user ?? {}, error: 'invalid bearer token' })
  return answered(question, {
    authenticated: true,
    user: { username: user.name, uid: user.uid, groups: user.groups, extra: user.extra },
  })
}
