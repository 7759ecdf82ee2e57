// The command admission replay: sends recorded AdmissionReviews to a webhook and compares the responses.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Json, jsonPatch } from '@cluster-apiserver/api/patch/json-patch/json-patch.js'
import { PatchError } from '@cluster-apiserver/api/patch/patch-error.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { RecordedReview } from '../admission/webhooks/admission-review-recorder.js'
import { getDocument } from '../net/outbound/http-client.js'
import { type EndpointResponse, JsonEndpoint } from '../net/outbound/json-endpoint.js'
import { readConnection } from '../options/files/webhook-kubeconfig.js'
import { readFromDisk } from '../options/settings-input.js'
import { type CommandOutput, exitCodes, runCommand } from './command-process.js'

const usage = `usage: cluster-apiserver admission replay --to=<url> [--file=<recordings>] [--data-dir=./cluster-data] [--webhook=<name>] [--last=<n>]

Sends recorded AdmissionReviews to a webhook and prints its responses: allowed or denied, the changes of its patch, and differences from the
recorded response. The server records with --recorded-admission-reviews=<n>; Secrets are not recorded.

  --to=<url>           URL of the webhook, http or https
  --ca-file=<file>     CAs that verify the certificate of the webhook; if unset, the root CAs of Node.js
  --file=<recordings>  recordings from /debug/admission/reviews; if unset, requested from the server that runs in the data folder
  --data-dir=<folder>  data folder of that server, for admin.conf
  --kubeconfig=<file>  kubeconfig for that server instead of admin.conf
  --webhook=<name>     only reviews of this webhook
  --last=<n>           only the last n reviews

Exit codes: 0 success, 1 the webhook did not respond to every review, 2 invalid command line.
`

const timeoutMs = 30_000
const maxBytes = 64 << 20

interface CommandOptions {
  readonly to: string
  readonly caFile: string | undefined
  readonly file: string | undefined
  readonly kubeconfig: string
  readonly webhook: string | undefined
  readonly last: number
}

export function runAdmissionCommand(args: readonly string[], output: CommandOutput): Promise<number> {
  const run = async (options: CommandOptions): Promise<number> => {
    const recorded = selectReviews(
      itemsOf(options.file === undefined ? await fetchRecordings(options.kubeconfig) : readFileSync(options.file, 'utf8')),
      options,
    )
    if (recorded.length === 0) throw new Error('there are no recorded reviews')
    return replay(recorded, options, output.print)
  }
  return runCommand({ name: 'admission', usage, read: readArguments, run }, args, output)
}

function readArguments(args: readonly string[]): CommandOptions {
  const stringOption = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      to: stringOption,
      'ca-file': stringOption,
      file: stringOption,
      'data-dir': stringOption,
      kubeconfig: stringOption,
      webhook: stringOption,
      last: stringOption,
    },
  })
  if (positionals.join(' ') !== 'replay') throw new Error('the only subcommand is replay')
  const { to = '', last = '1000' } = values
  if (!URL.canParse(to) || !/^https?:$/.test(new URL(to).protocol))
    throw new Error('--to: must be a URL such as https://127.0.0.1:8443/mutate')
  if (!/^[1-9]\d{0,5}$/.test(last)) throw new Error('--last: must be a number')
  const kubeconfig = values.kubeconfig ?? join(values['data-dir'] ?? 'cluster-data', 'admin.conf')
  return { to, caFile: values['ca-file'], file: values.file, kubeconfig, webhook: values.webhook, last: Number(last) }
}

async function fetchRecordings(kubeconfig: string): Promise<string> {
  const { url, ca, insecure, serverName, clientPair, authorization } = readConnection(kubeconfig, readFromDisk(kubeconfig))
  const { status, body } = await getDocument({
    url: new URL('/debug/admission/reviews', url).href,
    headers: authorization === undefined ? {} : { authorization: authorization() },
    timeoutMs,
    maxBytes,
    ca,
    insecure,
    serverName,
    ...clientPair?.(),
  })
  if (status === 404) throw new Error('the server does not record reviews; start it with --recorded-admission-reviews=<n>')
  if (status !== 200) throw new Error(`the server returned status ${status}: ${body.toString().slice(0, 500)}`)
  return body.toString()
}

function itemsOf(text: string): readonly RecordedReview[] {
  const value: unknown = JSON.parse(text)
  const items = isRecord(value) ? value['items'] : undefined
  if (!Array.isArray(items)) throw new Error('the file has no recorded reviews')
  return items as readonly RecordedReview[]
}

const selectReviews = (items: readonly RecordedReview[], { webhook, last }: CommandOptions): readonly RecordedReview[] =>
  items.filter((item) => webhook === undefined || item.webhook === webhook).slice(-last)

async function replay(recorded: readonly RecordedReview[], { to, caFile }: CommandOptions, print: (text: string) => void): Promise<number> {
  const endpoint = new JsonEndpoint({ url: to, ...(caFile === undefined ? {} : { ca: readFromDisk(caFile) }) }, { timeoutMs })
  let failures = 0
  try {
    for (const item of recorded) {
      print(`${titleOf(item)}\n`)
      try {
        const current = describeResponse(responseIn(await endpoint.post(item.review)), item)
        const previous =
          item.answer === undefined ? [] : describeResponse(isRecord(item.answer) ? item.answer['response'] : undefined, item)
        const isSame = JSON.stringify(current) === JSON.stringify(previous)
        print(`${current.map((line) => `  ${line}\n`).join('')}${isSame ? '  same as recorded\n' : recordedText(item, previous)}`)
      } catch (thrown) {
        failures++
        print(`  failed: ${(thrown as Error).message}\n`)
      }
    }
  } finally {
    endpoint.close()
  }
  return failures === 0 ? exitCodes.success : exitCodes.failure
}

const recordedText = ({ error }: RecordedReview, previous: readonly string[]): string =>
  `  recorded:\n${(error === undefined ? previous : [`failed: ${error}`]).map((line) => `    ${line}\n`).join('')}`

function titleOf({ time, webhook, review }: RecordedReview): string {
  const request = isRecord(review) && isRecord(review['request']) ? review['request'] : {}
  const { resource } = isRecord(request['resource']) ? request['resource'] : {}
  const subresource = request['subResource'] === undefined ? '' : `/${String(request['subResource'])}`
  const objectName = [request['namespace'], request['name']].filter((value) => typeof value === 'string').join('/')
  return `${time} ${webhook}: ${String(request['operation'])} ${String(resource)}${subresource} ${objectName}`
}

function responseIn({ status, body }: EndpointResponse): unknown {
  if (status < 200 || status > 299) throw new Error(`it returned status ${status}: ${body.toString().slice(0, 500)}`)
  const value: unknown = JSON.parse(body.toString())
  return isRecord(value) ? value['response'] : undefined
}

function describeResponse(response: unknown, { review }: RecordedReview): readonly string[] {
  if (!isRecord(response)) return ['no response']
  const { status, warnings, patch } = response
  const { message, reason } = isRecord(status) ? status : {}
  const explanation = message ?? reason
  return [
    response['allowed'] === true ? 'allowed' : `denied${explanation === undefined ? '' : `: ${String(explanation)}`}`,
    ...(Array.isArray(warnings) ? warnings.map((warning) => `warning: ${String(warning)}`) : []),
    ...(typeof patch === 'string' ? changesOf(patch, review) : []),
  ]
}

function changesOf(patch: string, review: unknown): readonly string[] {
  const request = isRecord(review) && isRecord(review['request']) ? review['request'] : {}
  const object = (request['object'] ?? null) as Json
  try {
    return describeChanges(object, jsonPatch(object, JSON.parse(Buffer.from(patch, 'base64').toString())))
  } catch (thrown) {
    if (thrown instanceof PatchError || thrown instanceof SyntaxError) return [`its patch cannot be applied: ${thrown.message}`]
    throw thrown
  }
}

const maxShownChars = 200

/** Lines `+ path: value`, `- path: value` and `~ path: before -> after`, in document order. */
export function describeChanges(before: unknown, after: unknown, path = ''): readonly string[] {
  if (isRecord(before) && isRecord(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
      const fieldPath = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (!Object.hasOwn(before, name)) return [`+ ${fieldPath}: ${show(after[name])}`]
      return Object.hasOwn(after, name) ? describeChanges(before[name], after[name], fieldPath) : [`- ${fieldPath}: ${show(before[name])}`]
    })
  }
  if (Array.isArray(before) && Array.isArray(after)) return describeItems(before, after, path)
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`~ ${path || '/'}: ${show(before)} -> ${show(after)}`]
}

/** Skips common items at both ends, so that an inserted item is one line. */
function describeItems(before: readonly unknown[], after: readonly unknown[], path: string): readonly string[] {
  const isSame = (i: number, j: number): boolean => JSON.stringify(before[i]) === JSON.stringify(after[j])
  const shorter = Math.min(before.length, after.length)
  let commonStart = 0
  while (commonStart < shorter && isSame(commonStart, commonStart)) commonStart++
  let commonEnd = 0
  while (commonEnd < shorter - commonStart && isSame(before.length - 1 - commonEnd, after.length - 1 - commonEnd)) commonEnd++
  const [removed, added] = [before.slice(commonStart, before.length - commonEnd), after.slice(commonStart, after.length - commonEnd)]
  if (removed.length === added.length) return removed.flatMap((item, i) => describeChanges(item, added[i], `${path}/${commonStart + i}`))
  return [
    ...removed.map((item, i) => `- ${path}/${commonStart + i}: ${show(item)}`),
    ...added.map((item, i) => `+ ${path}/${commonStart + i}: ${show(item)}`),
  ]
}

function show(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text
}
