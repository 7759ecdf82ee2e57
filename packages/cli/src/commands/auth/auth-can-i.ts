// `auth can-i`: checks a permission by SelfSubjectAccessReview, with exit code 1 if not allowed; --list lists all permissions.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { alignRows, headerRow } from '../../output/columns.js'
import { type AccessRule, ruleHeaders, ruleRows } from '../../output/rbac-rules.js'

const resourceVerbs = [
  '*',
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'use',
  'bind',
  'impersonate',
  'escalate',
  'approve',
  'sign',
]
const pathVerbs = ['*', 'get', 'put', 'post', 'head', 'options', 'delete', 'patch']
const unservedResources = ['*', 'users', 'groups', 'userextras']

export const command = defineCommand({
  usage: 'auth can-i VERB (TYPE | TYPE/NAME | /PATH) [flags]',
  examples: [
    'auth can-i create pods',
    'auth can-i get pods/web --subresource=log',
    'auth can-i --list',
    'auth can-i list secrets --as alice -A',
  ],
  flags: {
    subresource: { kind: 'text', help: 'subresource, such as log or scale' },
    'all-namespaces': { kind: 'switch', short: 'A', help: 'all namespaces' },
    quiet: { kind: 'switch', short: 'q', help: 'print nothing; see the exit code' },
    list: { kind: 'switch', help: 'list all permissions in the namespace' },
    'no-headers': { kind: 'switch', help: 'omit the header' },
  },
  run: async ({ args, flags, session, io }) => {
    const group = (await session.resources.identity()).group({ stem: 'authorization' })
    const createReview = (kind: string, resource: string, spec: object): Promise<DynamicObject> =>
      session.client
        .collection({ group, version: 'v1', resource, kind, namespaced: false })
        .create({ apiVersion: `${group}/v1`, kind, spec })
    if (flags.list && args.length > 0) throw new UsageError('list option must be specified with no arguments')
    if (flags.list) {
      const { status } = (await createReview('SelfSubjectRulesReview', 'selfsubjectrulesreviews', {
        namespace: session.namespace,
      })) as DynamicObject & {
        readonly status?: {
          readonly resourceRules?: readonly AccessRule[]
          readonly nonResourceRules?: readonly AccessRule[]
          readonly incomplete?: boolean
          readonly evaluationError?: string
        }
      }
      if (status?.incomplete === true)
        io.err(`Warning: the list may be incomplete${status.evaluationError === undefined ? '' : `: ${status.evaluationError}`}\n`)
      io.out(
        alignRows([
          ...(flags['no-headers'] ? [] : [headerRow(ruleHeaders, io.style)]),
          ...ruleRows([...(status?.resourceRules ?? []), ...(status?.nonResourceRules ?? [])]),
        ]),
      )
      return 0
    }
    const [verb, target, ...extraArgs] = args
    if (verb === undefined || target === undefined || extraArgs.length > 0)
      throw new UsageError('you must specify two arguments: verb resource, verb resource/resourceName, or verb /path')
    if (!(target.startsWith('/') ? pathVerbs : resourceVerbs).includes(verb)) io.err(`Warning: verb '${verb}' is not a known verb\n\n`)
    let spec: object
    if (target.startsWith('/')) spec = { nonResourceAttributes: { path: target, verb } }
    else {
      const [resourceName = '', objectName = ''] = target.split('/')
      const found =
        resourceName === '*'
          ? { group: '*', resource: '*', version: '*', namespaced: true }
          : await session.resources.find(resourceName).catch((thrown: unknown) => {
              if (thrown instanceof UsageError) return undefined
              throw thrown
            })
      // Resources that are not served can be checked as RESOURCE.GROUP.
      const [unknownResource = '', ...groupWords] = resourceName.split('.')
      const unknownGroup = groupWords.join('.')
      if (found === undefined && !unservedResources.includes(resourceName))
        io.err(
          `Warning: the server doesn't have a resource type '${unknownResource}'${unknownGroup === '' ? '' : ` in group '${unknownGroup}'`}\n\n`,
        )
      if (found?.namespaced === false && !flags['all-namespaces'])
        io.err(`Warning: resource '${found.resource}' is not namespace scoped\n\n`)
      spec = {
        resourceAttributes: {
          namespace: flags['all-namespaces'] || found?.namespaced === false ? '' : session.namespace,
          verb,
          group: found?.group ?? unknownGroup,
          resource: found?.resource ?? unknownResource,
          ...(objectName === '' ? {} : { name: objectName }),
          ...(flags.subresource === undefined ? {} : { subresource: flags.subresource }),
        },
      }
    }
    const { status } = (await createReview('SelfSubjectAccessReview', 'selfsubjectaccessreviews', spec)) as DynamicObject & {
      readonly status?: { readonly allowed?: boolean; readonly reason?: string; readonly evaluationError?: string }
    }
    const { allowed = false, reason = '', evaluationError = '' } = status ?? {}
    if (!flags.quiet)
      io.out(allowed ? 'yes\n' : `no${reason === '' ? '' : ` - ${reason}`}${evaluationError === '' ? '' : ` - ${evaluationError}`}\n`)
    return allowed ? 0 : 1
  },
})
