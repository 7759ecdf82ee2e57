// A question about a token: whose is it?

import type { ApiObject } from '../../api/object.js'
import { authenticateWith, problemText, tokenCredentials } from '../../auth/authenticate.js'
import { answered, type Review } from './signatures.js'

interface TokenReview extends ApiObject {
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] }
  readonly status?: { readonly user?: object }
}

/** Where there is no user to tell of, what the client claimed stays, without a word that it is so. */
export const reviewToken: Review = async (engine, _call, question) => {
  const { spec: { token = '', audiences = [] } = {}, status: claimed = {} } = question as TokenReview
  const wanted = audiences.length === 0 ? undefined : audiences
  const found = await authenticateWith(engine.access.authenticators, tokenCredentials(token, wanted))
  if (found?.user === undefined) {
    return answered(question, { user: claimed.user ?? {}, error: problemText(found ?? { problems: ['invalid bearer token'] }) })
  }
  const { user } = found
  return answered(question, {
    authenticated: true,
    user: { username: user.name, uid: user.uid, groups: user.groups, extra: user.extra },
    ...(found.audiences === undefined ? {} : { audiences: found.audiences }),
  })
}
