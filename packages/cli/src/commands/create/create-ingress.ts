// `create ingress` from rules HOST/PATH=SERVICE:PORT.

import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { createAndPrint, createFlags, nameArgument, numberOrText, parsePairs } from '../../objects/create-object.js'

export const command = defineCommand({
  usage: 'create ingress NAME --rule=HOST/PATH=SERVICE:PORT[,tls[=SECRET]] [--default-backend=SERVICE:PORT] [--class=CLASS]',
  examples: ['create ingress shop --rule="shop.example.com/*=web:80,tls=shop-certificate"'],
  flags: {
    ...createFlags,
    rule: {
      kind: 'texts',
      help: 'HOST/PATH=SERVICE:PORT[,tls[=SECRET]]; a path that ends with * is a prefix',
    },
    'default-backend': { kind: 'text', help: 'default backend: SERVICE:PORT' },
    class: { kind: 'text', help: 'ingress class' },
    annotation: { kind: 'texts', help: 'annotation: a=b' },
  },
  run: async (context) => {
    const { flags, args, session } = context
    const name = nameArgument(args)
    const { rule: texts, annotation, class: className, 'default-backend': defaultBackend } = flags
    if (texts.length === 0 && defaultBackend === undefined)
      throw new UsageError(
        'not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)',
      )
    const rules = texts.map(ruleOf)
    const spec = {
      ...(defaultBackend === undefined
        ? {}
        : {
            defaultBackend: backendOf(
              defaultBackend,
              `default-backend ${defaultBackend} is invalid and should be in format svcname:svcport`,
            ),
          }),
      ...(className === undefined ? {} : { ingressClassName: className }),
      ...(rules.length === 0 ? {} : { rules: byHost(rules) }),
      ...certificatesOf(rules),
    }
    const metadata = { name, ...(annotation.length === 0 ? {} : { annotations: parsePairs('annotation', annotation) }) }
    const group = (await session.resources.identity()).group({ stem: 'networking' })
    return createAndPrint({ apiVersion: `${group}/v1`, kind: 'Ingress', metadata, spec }, context)
  },
})

interface Rule {
  readonly host: string
  readonly path: object
  /** TLS secret. Empty: default certificate of the ingress controller. Undefined: no TLS. */
  readonly secret: string | undefined
}

function ruleOf(text: string): Rule {
  const message = `rule ${text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`
  const equals = text.indexOf('=')
  const slash = text.indexOf('/')
  if (equals < 0 || slash < 0 || slash > equals) throw new UsageError(message)
  const [target = '', tls, ...extraParts] = text.slice(equals + 1).split(',')
  if (extraParts.length > 0 || (tls !== undefined && tls !== 'tls' && !/^tls=./.test(tls))) throw new UsageError(message)
  const path = text.slice(slash, equals)
  const isPrefix = path.endsWith('*')
  return {
    host: text.slice(0, slash),
    path: { backend: backendOf(target, message), path: isPrefix ? path.slice(0, -1) : path, pathType: isPrefix ? 'Prefix' : 'Exact' },
    secret: tls === undefined ? undefined : tls.slice('tls='.length),
  }
}

function backendOf(text: string, message: string): object {
  const [name = '', port = '', ...extraParts] = text.split(':')
  if (name === '' || port === '' || extraParts.length > 0) throw new UsageError(message)
  const number = numberOrText(port)
  return { service: { name, port: typeof number === 'number' ? { number } : { name: port } } }
}

function byHost(rules: readonly Rule[]): readonly object[] {
  const paths = new Map<string, object[]>()
  for (const { host, path } of rules) paths.set(host, [...(paths.get(host) ?? []), path])
  return [...paths].map(([host, hostPaths]) => ({ ...(host === '' ? {} : { host }), http: { paths: hostPaths } }))
}

function certificatesOf(rules: readonly Rule[]): object {
  const hosts = new Map<string, Set<string>>()
  for (const { host, secret } of rules) if (secret !== undefined) hosts.set(secret, (hosts.get(secret) ?? new Set()).add(host))
  if (hosts.size === 0) return {}
  return {
    tls: [...hosts].map(([secretName, names]) => ({
      ...([...names].join() === '' ? {} : { hosts: [...names].filter((name) => name !== '') }),
      ...(secretName === '' ? {} : { secretName }),
    })),
  }
}
