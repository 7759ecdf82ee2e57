// POST on kinds that are questions: checked, answered, and not kept.

import { ApiError, invalid } from '../api/api-error.js'
import { type ApiObject, members } from '../api/object.js'
import type { RequestInfo, RequestVerb } from '../api/request-info.js'
import { authenticatedGroup, mastersGroup, type User } from '../api/user.js'
import { authenticateWith } from '../auth/authenticate.js'
import { authorizeWith } from '../auth/authorize.js'
import { inNamespace } from './create.js'
import type { Call, Engine, WriteOptions } from './engine.js'
import { trackCreate } from './managed-fields.js'

export interface Question {
  readonly object: ApiObject
  readonly options: WriteOptions
}

export async function answerQuestion(engine: Engine, call: Call, { object, options }: Question): Promise<ApiObject> {
  const { definition, invalidSubject, kind } = call.resource
  const tracked = trackCreate(call, inNamespace(call, object), options)
  const asked = definition.prepareCreate?.(tracked, call.rules) ?? tracked
  const errors = definition.validate?.(asked, call.rules) ?? []
  // A question is of no kind that anybody could look up, so that errors name its group alone.
  if (errors.length > 0) throw invalid({ ...invalidSubject, kind: '' }, '', errors)
  const known = definition.virtual?.answer?.(asked, call.rules)
  if (known !== undefined) return known
  const answer = answers[kind]
  if (answer === undefined)
    throw new ApiError({ code: 501, reason: 'NotImplemented', message: `${kind} is not answered by this server yet`, details: {} })
  return { ...asked, status: await answer(engine, call, members(asked)['spec'] ?? {}, members(asked)['status'] ?? {}) } as ApiObject
}

type Answer = (engine: Engine, call: Call, spec: object, claimed: object) => object | Promise<object>

/** By kind; to add one: a function below, and a line here. */
const answers: { readonly [kind: string]: Answer } = {
  SubjectAccessReview: (engine, _call, spec) => reviewAccess(engine, subjectOf(spec), spec),
  LocalSubjectAccessReview: (engine, _call, spec) => reviewAccess(engine, subjectOf(spec), spec),
  SelfSubjectAccessReview: (engine, call, spec) => reviewAccess(engine, call.user, spec),
  SelfSubjectRulesReview: (_engine, call) => reviewRules(call.user),
  TokenReview: (engine, _call, spec, claimed) => reviewToken(engine, spec, claimed),
}

interface AccessSpec {
  readonly resourceAttributes?: { readonly [field: string]: string }
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: User['extra']
}

const subjectOf = ({ user = '', uid = '', groups = [], extra = {} }: AccessSpec): User => ({ name: user, uid, groups, extra })

async function reviewAccess(engine: Engine, user: User, spec: AccessSpec): Promise<object> {
  const decision = await authorizeWith(engine.access.authorizers, user, requestOf(spec))
  return { allowed: decision === 'allow', ...(decision === 'deny' ? { denied: true } : {}) }
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
function reviewRules(user: User): object {
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  const isMaster = user.groups.includes(mastersGroup)
  const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']
  const discovery = user.groups.includes(authenticatedGroup) ? ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'] : []
  return {
    resourceRules: isMaster ? [everything] : [],
    nonResourceRules: [{ verbs: isMaster ? ['*'] : ['get'], nonResourceURLs: isMaster ? ['*'] : [...publicPaths, ...discovery] }],
    incomplete: false,
  }
}

/** Where there is no user to tell of, what the client claimed stays, without a word that it is so. */
async function reviewToken(
  engine: Engine,
  { token = '' }: { readonly token?: string },
  claimed: { readonly user?: object },
): Promise<object> {
  const user = token === '' ? undefined : await authenticateWith(engine.access.authenticators, { bearerToken: token })
  if (user === undefined) return { user: claimed.user ?? {}, error: 'invalid bearer token' }
  return { authenticated: true, user: { username: user.name, uid: user.uid, groups: user.groups, extra: user.extra } }
}
