// Questions about rights: may somebody do that, and what may I do?

import type { ApiObject } from '../../api/object.js'
import type { User } from '../../api/user.js'
import { type AccessAttributes, authorizeWith, rulesWith } from '../../auth/authorize.js'
import type { Engine } from '../engine.js'
import { answered, type Review } from './signatures.js'

interface AccessSpec {
  readonly resourceAttributes?: { readonly [field: string]: string }
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: User['extra']
}

interface AccessReview extends ApiObject {
  readonly spec?: AccessSpec
}

const subjectOf = ({ spec: { user = '', uid = '', groups = [], extra = {} } = {} }: AccessReview): User => ({
  name: user,
  uid,
  groups,
  extra,
})

/** About the user whom the question names. */
export const reviewSubjectAccess: Review = (engine, _call, question) => reviewAccess(engine, subjectOf(question), question)

/** About the one who asks. */
export const reviewOwnAccess: Review = (engine, call, question) => reviewAccess(engine, call.user, question)

async function reviewAccess(engine: Engine, user: User, question: ApiObject): Promise<ApiObject> {
  const { spec = {} } = question as AccessReview
  const { verdict, reason, error } = await authorizeWith(engine.access.authorizers, { user, info: attributesOf(spec) })
  return answered(question, {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(error === undefined ? {} : { evaluationError: error }),
  })
}

/** What the question is about. */
function attributesOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): AccessAttributes {
  const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = resourceAttributes ?? {}
  return {
    path: nonResourceAttributes?.path ?? '',
    isResource: nonResourceAttributes === undefined,
    verb: nonResourceAttributes?.verb ?? verb,
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
  }
}

interface RulesReview extends ApiObject {
  readonly spec?: { readonly namespace?: string }
}

/** What may the one who asks do in a namespace? */
export const reviewOwnRules: Review = async (engine, call, question) => {
  const { spec: { namespace = '' } = {} } = question as RulesReview
  const {
    resourceRules,
    nonResourceRules,
    problem = '',
    isIncomplete = false,
  } = await rulesWith(engine.access.authorizers, call.user, namespace)
  // Unlike those to the other questions, the answer does not repeat what was asked.
  return answered({ spec: {} } as ApiObject, {
    resourceRules,
    nonResourceRules,
    incomplete: isIncomplete,
    ...(problem === '' ? {} : { evaluationError: problem }),
  })
}
