// A structural check of OpenAPI documents, written for these tests: what words an object may have, which it must have, whether references
// and path parameters lead somewhere. A validator by somebody else reads what the whole server publishes: test/openapi-valid.test.ts.

export type Json = { readonly [key: string]: unknown }

interface Rules {
  readonly version: 2 | 3
  readonly definitionsAt: string
  readonly definitions: Json
  readonly problems: string[]
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const schemaWords = words(
  '$ref title description type format default enum items properties additionalProperties required allOf uniqueItems pattern ' +
    'maximum minimum exclusiveMaximum exclusiveMinimum maxLength minLength maxItems minItems maxProperties minProperties multipleOf example externalDocs',
)
const schemaWords3 = new Set([...schemaWords, ...words('oneOf anyOf not nullable')])
const operationWords = words('tags summary description operationId parameters responses deprecated')
const operationWords2 = new Set([...operationWords, ...words('consumes produces schemes')])
const operationWords3 = new Set([...operationWords, 'requestBody'])
const methods = words('get put post delete options head patch')

/** What is wrong with a document; empty if nothing is. */
export function checkDocument(document: Json): readonly string[] {
  const version = 'swagger' in document ? 2 : 3
  const definitions = (version === 2 ? document['definitions'] : (document['components'] as Json)['schemas']) as Json
  const definitionsAt = version === 2 ? '#/definitions/' : '#/components/schemas/'
  const rules: Rules = { version, definitions, definitionsAt, problems: [] }
  checkTop(rules, document)
  for (const [name, schema] of Object.entries(definitions)) checkSchema(rules, schema as Json, name)
  const ids = Object.entries(document['paths'] as Json).flatMap(([path, item]) => checkPath(rules, path, item as Json))
  for (const [index, id] of ids.entries()) if (ids.indexOf(id) !== index) rules.problems.push(`two operations are called ${id}`)
  return rules.problems
}

function checkTop(rules: Rules, document: Json): void {
  const allowed = words(
    rules.version === 2 ? 'swagger info paths definitions security securityDefinitions' : 'openapi info paths components security',
  )
  checkWords(rules, document, { allowed, required: [...allowed].filter((word) => word !== 'security'), at: 'document' })
  if (rules.version === 2 ? document['swagger'] !== '2.0' : !/^3\.0\.\d$/.test(String(document['openapi'])))
    rules.problems.push('the version is none')
  checkWords(rules, document['info'] as Json, { allowed: words('title version description'), required: ['title', 'version'], at: 'info' })
}

interface WordRules {
  readonly allowed: ReadonlySet<string>
  readonly required?: readonly string[]
  readonly at: string
}

function checkWords({ problems }: Rules, object: Json, { allowed, required = [], at }: WordRules): void {
  for (const word of Object.keys(object)) if (!allowed.has(word) && !word.startsWith('x-')) problems.push(`${at} may not have ${word}`)
  for (const word of required) if (object[word] === undefined) problems.push(`${at} must have ${word}`)
}

const types = words('string number integer boolean array object')

function checkSchema(rules: Rules, schema: Json, at: string): void {
  const { problems, version, definitions, definitionsAt } = rules
  checkWords(rules, schema, { allowed: version === 2 ? schemaWords : schemaWords3, at })
  const ref = schema['$ref']
  if (typeof ref === 'string') {
    if (!ref.startsWith(definitionsAt) || !(ref.slice(definitionsAt.length) in definitions)) problems.push(`${at} refers to ${ref}`)
    if (version === 3 && Object.keys(schema).length > 1) problems.push(`${at} says more than its reference`)
  }
  const type = schema['type']
  if (type !== undefined && !types.has(String(type))) problems.push(`${at} has the type ${type}`)
  if (type === 'array' && schema['items'] === undefined) problems.push(`${at} has no items`)
  const properties = (schema['properties'] ?? {}) as Json
  for (const name of (schema['required'] ?? []) as readonly string[])
    if (!(name in properties)) problems.push(`${at} requires ${name}, which it does not have`)
  for (const [name, one] of Object.entries(properties)) checkSchema(rules, one as Json, `${at}.${name}`)
  for (const word of ['items', 'additionalProperties', 'not']) {
    const inner = schema[word]
    if (typeof inner === 'object' && inner !== null) checkSchema(rules, inner as Json, `${at}.${word}`)
  }
  for (const word of ['allOf', 'oneOf', 'anyOf']) {
    for (const inner of (schema[word] ?? []) as readonly Json[]) checkSchema(rules, inner, `${at}.${word}`)
  }
}

/** The ids of its operations. */
function checkPath(rules: Rules, path: string, item: Json): readonly string[] {
  if (!path.startsWith('/')) rules.problems.push(`${path} is no path`)
  checkWords(rules, item, { allowed: new Set([...methods, 'parameters']), at: path })
  const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  return Object.entries(item)
    .filter(([method]) => methods.has(method))
    .map(([method, operation]) => {
      const at = `${path} ${method}`
      checkOperation(rules, operation as Json, at)
      const parameters = [item, operation as Json].flatMap((one) => (one['parameters'] ?? []) as readonly Json[])
      for (const parameter of parameters) checkParameter(rules, parameter, at)
      const keys = parameters.map((parameter) => `${parameter['in']} ${parameter['name']}`)
      if (new Set(keys).size !== keys.length) rules.problems.push(`${at} has a parameter twice`)
      const inPath = parameters.filter((parameter) => parameter['in'] === 'path').map((parameter) => parameter['name'])
      if (inPath.toSorted().join() !== inTemplate.toSorted().join()) rules.problems.push(`${at} has the path parameters ${inPath}`)
      return String((operation as Json)['operationId'])
    })
}

function checkOperation(rules: Rules, operation: Json, at: string): void {
  const allowed = rules.version === 2 ? operationWords2 : operationWords3
  checkWords(rules, operation, { allowed, required: ['responses', 'operationId'], at })
  const responses = Object.entries(operation['responses'] as Json)
  if (responses.length === 0) rules.problems.push(`${at} has no responses`)
  for (const [code, response] of responses) {
    if (!/^[1-5]\d\d$/.test(code)) rules.problems.push(`${at} answers ${code}`)
    const inside = rules.version === 2 ? 'schema' : 'content'
    checkWords(rules, response as Json, { allowed: new Set(['description', inside]), required: ['description'], at: `${at} ${code}` })
    checkContent(rules, (response as Json)[inside], `${at} ${code}`)
  }
  const body = operation['requestBody'] as Json | undefined
  if (body === undefined) return
  checkWords(rules, body, { allowed: words('description content required'), required: ['content'], at: `${at} body` })
  checkContent(rules, body['content'], `${at} body`)
}

/** A schema, or in version 3 one for each media type. */
function checkContent(rules: Rules, content: unknown, at: string): void {
  if (content === undefined) return
  if (rules.version === 2) {
    checkSchema(rules, content as Json, at)
    return
  }
  for (const [type, one] of Object.entries(content as Json)) {
    if (!/^[\w*.+-]+\/[\w*.+-]+(;\w+=\w+)*$/.test(type)) rules.problems.push(`${at} has the media type ${type}`)
    checkSchema(rules, (one as Json)['schema'] as Json, `${at} ${type}`)
  }
}

function checkParameter(rules: Rules, parameter: Json, at: string): void {
  const place = parameter['in']
  const where = `${at} ${parameter['name']}`
  const typed = words('name in description required type uniqueItems')
  const schemed = words('name in description required schema')
  const hasSchema = rules.version === 3 || place === 'body'
  checkWords(rules, parameter, {
    allowed: hasSchema ? schemed : typed,
    required: ['name', 'in', hasSchema ? 'schema' : 'type'],
    at: where,
  })
  if (!words(rules.version === 2 ? 'path query body' : 'path query').has(String(place))) rules.problems.push(`${where} is in ${place}`)
  if (place === 'path' && parameter['required'] !== true) rules.problems.push(`${where} is not required`)
  if (hasSchema) checkSchema(rules, parameter['schema'] as Json, where)
}
