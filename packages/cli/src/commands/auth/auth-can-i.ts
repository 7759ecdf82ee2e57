// Says whether we may do something, or all that we may do; 1 where the answer is no.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'
import { alignRows, headerRow } from '../output/columns.js'
import { type AccessRule, ruleHeaders, ruleRows } from '../rule-rows.js'

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
/** Only there to be allowed. */
const unserved = ['*', 'users', 'groups', 'userextras']

export const command = defineCommand({
  usage: 'auth can-i VERB (TYPE | TYPE/NAME | /PATH) [flags]',
  about: 'say whether we may do something',
  examples: [
    'auth can-i create pods',
    'auth can-i get pods/web --subresource=log',
    'auth can-i --list',
    'auth can-i list secrets --as alice -A',
  ],
  flags: {
    subresource: { kind: 'text', help: 'such as log or scale' },
    'all-namespaces': { kind: 'switch', short: 'A', help: 'in all namespaces' },
    quiet: { kind: 'switch', short: 'q', help: 'only by the exit code' },
    list: { kind: 'switch', help: 'all that we may do in the namespace' },
    'no-headers': { kind: 'switch', help: 'no line with the names of columns' },
  },
  run: async ({ args, flags, session, io }) => {
    const group = (await session.resources.identity()).group({ stem: 'authorization' })
    const ask = (kind: string, resource: string, spec: object): Promise<DynamicObject> =>
      session.client
        .collection({ group, version: 'v1', resource, kind, namespaced: false })
        .create({ apiVersion: `${group}/v1`, kind, spec })
    if (flags.list && args.length > 0) throw new UsageError('list option must be specified with no arguments')
    if (flags.list) {
      const { status } = (await ask('SelfSubjectRulesReview', 'selfsubjectrulesreviews', {
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
    const [verb, what, ...more] = args
    if (verb === undefined || what === undefined || more.length > 0)
      throw new UsageError('you must specify two arguments: verb resource, verb resource/resourceName, or verb /path')
    if (!(what.startsWith('/') ? pathVerbs : resourceVerbs).includes(verb)) io.err(`Warning: verb '${verb}' is not a known verb\n\n`)
    let spec: object
    if (what.startsWith('/')) spec = { nonResourceAttributes: { path: what, verb } }
    else {
      const [words = '', slashName = ''] = what.split('/')
      const found =
        words === '*'
          ? { group: '*', resource: '*', version: '*', namespaced: true }
          : await session.resources.find(words).catch((thrown: unknown) => {
              if (thrown instanceof UsageError) return undefined
              throw thrown
            })
      // What is not served may be asked about all the same: RESOURCE.GROUP.
      const [plain = '', ...groupWords] = words.split('.')
      const unknownGroup = groupWords.join('.')
      if (found === undefined && !unserved.includes(words))
        io.err(`Warning: the server doesn't have a resource type '${plain}'${unknownGroup === '' ? '' : ` in group '${unknownGroup}'`}\n\n`)
      if (found?.namespaced === false && !flags['all-namespaces'])
        io.err(`Warning: resource '${found.resource}' is not namespace scoped\n\n`)
      spec = {
        resourceAttributes: {
          namespace: flags['all-namespaces'] || found?.namespaced === false ? '' : session.namespace,
          verb,
          group: found?.group ?? unknownGroup,
          resource: found?.resource ?? plain,
          ...(slashName === '' ? {} : { name: slashName }),
          ...(flags.subresource === undefined ? {} : { subresource: flags.subresource }),
        },
      }
    }
    const { status } = (await ask('SelfSubjectAccessReview', 'selfsubjectaccessreviews', spec)) as DynamicObject & {
      readonly status?: { readonly allowed?: boolean; readonly reason?: string; readonly evaluationError?: string }
    }
    const { allowed = false, reason = '', evaluationError = '' } = status ?? {}
    if (!flags.quiet)
      io.out(allowed ? 'yes\n' : `no${reason === '' ? '' : ` - ${reason}`}${evaluationError === '' ? '' : ` - ${evaluationError}`}\n`)
    return allowed ? 0 : 1
  },
})
