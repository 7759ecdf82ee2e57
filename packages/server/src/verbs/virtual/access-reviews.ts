// SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectAccessReview and SelfSubjectRulesReview.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { type AccessAttributes, authorizeWith, rulesWith } from '../../auth/authorize.js'
import type { Engine } from '../engine.js'
import { type Review, withStatus } from './virtual-resource-types.js'

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

export const reviewSubjectAccess: Review = (engine, _call, review) => reviewAccess(engine, subjectOf(review), review)

export const reviewOwnAccess: Review = (engine, call, review) => reviewAccess(engine, call.user, review)

async function reviewAccess(engine: Engine, user: User, review: ApiObject): Promise<ApiObject> {
  const { spec = {} } = review as AccessReview
  const { verdict, reason, error } = await authorizeWith(engine.access.authorizers, { user, info: attributesOf(spec) })
  return withStatus(review, {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(error === undefined ? {} : { evaluationError: error }),
  })
}

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

export const reviewOwnRules: Review = async (engine, call, review) => {
  const { spec: { namespace = '' } = {} } = review as RulesReview
  const {
    resourceRules,
    nonResourceRules,
    problem = '',
    isIncomplete = false,
  } = await rulesWith(engine.access.authorizers, call.user, namespace)
  // The response has an empty spec, unlike those of other reviews.
  return withStatus({ spec: {} } as ApiObject, {
    resourceRules,
    nonResourceRules,
    incomplete: isIncomplete,
    ...(problem === '' ? {} : { evaluationError: problem }),
  })
}
