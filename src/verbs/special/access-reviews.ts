// Questions about rights: may somebody do that, and what may I do?

import type { ApiObject } from '../../api/object.js'
import type { RequestInfo, RequestVerb } from '../../api/request-info.js'
import { authenticatedGroup, mastersGroup, type User } from '../../api/user.js'
import { authorizeWith } from '../../auth/authorize.js'
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
  const decision = await authorizeWith(engine.access.authorizers, user, requestOf(spec))
  return answered(question, { allowed: decision === 'allow', ...(decision === 'deny' ? { denied: true } : {}) })
}

/** The request that the question is about. */
function requestOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): RequestInfo {
  const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = resourceAttributes ?? {}
  const path = nonResourceAttributes?.path ?? ''
  return {
    method: 'GET',
    path,
    query: '',
    isResource: nonResourceAttributes === undefined,
    verb: (nonResourceAttributes?.verb ?? verb) as RequestVerb,
    prefix: '',
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    parts: [],
  }
}

/** As far as the door goes today: masters may do everything, the others read what is public. */
export const reviewOwnRules: Review = (_engine, { user }, question) => {
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  const isMaster = user.groups.includes(mastersGroup)
  const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']
  const discovery = user.groups.includes(authenticatedGroup) ? ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'] : []
  return answered(question, {
    resourceRules: isMaster ? [everything] : [],
    nonResourceRules: [{ verbs: isMaster ? ['*'] : ['get'], nonResourceURLs: isMaster ? ['*'] : [...publicPaths, ...discovery] }],
    incomplete: false,
  })
}
