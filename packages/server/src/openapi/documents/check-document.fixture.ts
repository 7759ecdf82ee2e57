// Fixture: checks the structure of OpenAPI documents: allowed and required members, references, path parameters.

export type Json = { readonly [key: string]: unknown }

interface Rules {
  readonly version: 2 | 3
  readonly definitionsAt: string
  readonly definitions: Json
  readonly problems: string[]
}

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const schemaKeywords = setOf(
  '$ref title description type format default enum items properties additionalProperties required allOf uniqueItems pattern ' +
    'maximum minimum exclusiveMaximum exclusiveMinimum maxLength minLength maxItems minItems maxProperties minProperties multipleOf example externalDocs',
)
const schemaKeywordsV3 = new Set([...schemaKeywords, ...setOf('oneOf anyOf not nullable')])
const operationKeywords = setOf('tags summary description operationId parameters responses deprecated')
const operationKeywordsV2 = new Set([...operationKeywords, ...setOf('consumes produces schemes')])
const operationKeywordsV3 = new Set([...operationKeywords, 'requestBody'])
const methods = setOf('get put post delete options head patch')

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
  const allowed = setOf(
    rules.version === 2 ? 'swagger info paths definitions security securityDefinitions' : 'openapi info paths components security',
  )
  checkMembers(rules, document, { allowed, required: [...allowed].filter((keyword) => keyword !== 'security'), at: 'document' })
  if (rules.version === 2 ? document['swagger'] !== '2.0' : !/^3\.0\.\d$/.test(String(document['openapi'])))
    rules.problems.push('the version is invalid')
  checkMembers(rules, document['info'] as Json, { allowed: setOf('title version description'), required: ['title', 'version'], at: 'info' })
}

interface MemberRules {
  readonly allowed: ReadonlySet<string>
  readonly required?: readonly string[]
  readonly at: string
}

function checkMembers({ problems }: Rules, object: Json, { allowed, required = [], at }: MemberRules): void {
  for (const keyword of Object.keys(object))
    if (!allowed.has(keyword) && !keyword.startsWith('x-')) problems.push(`${at} may not have ${keyword}`)
  for (const keyword of required) if (object[keyword] === undefined) problems.push(`${at} must have ${keyword}`)
}

const types = setOf('string number integer boolean array object')

function checkSchema(rules: Rules, schema: Json, at: string): void {
  const { problems, version, definitions, definitionsAt } = rules
  checkMembers(rules, schema, { allowed: version === 2 ? schemaKeywords : schemaKeywordsV3, at })
  const ref = schema['$ref']
  if (typeof ref === 'string') {
    if (!ref.startsWith(definitionsAt) || !(ref.slice(definitionsAt.length) in definitions)) problems.push(`${at} refers to ${ref}`)
    if (version === 3 && Object.keys(schema).length > 1) problems.push(`${at} has members next to its reference`)
  }
  const type = schema['type']
  if (type !== undefined && !types.has(String(type))) problems.push(`${at} has the type ${type}`)
  if (type === 'array' && schema['items'] === undefined) problems.push(`${at} has no items`)
  const properties = (schema['properties'] ?? {}) as Json
  for (const name of (schema['required'] ?? []) as readonly string[])
    if (!(name in properties)) problems.push(`${at} requires ${name}, which it does not have`)
  for (const [name, one] of Object.entries(properties)) checkSchema(rules, one as Json, `${at}.${name}`)
  for (const keyword of ['items', 'additionalProperties', 'not']) {
    const inner = schema[keyword]
    if (typeof inner === 'object' && inner !== null) checkSchema(rules, inner as Json, `${at}.${keyword}`)
  }
  for (const keyword of ['allOf', 'oneOf', 'anyOf']) {
    for (const inner of (schema[keyword] ?? []) as readonly Json[]) checkSchema(rules, inner, `${at}.${keyword}`)
  }
}

function checkPath(rules: Rules, path: string, item: Json): readonly string[] {
  if (!path.startsWith('/')) rules.problems.push(`${path} is not a path`)
  checkMembers(rules, item, { allowed: new Set([...methods, 'parameters']), at: path })
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
  const allowed = rules.version === 2 ? operationKeywordsV2 : operationKeywordsV3
  checkMembers(rules, operation, { allowed, required: ['responses', 'operationId'], at })
  const responses = Object.entries(operation['responses'] as Json)
  if (responses.length === 0) rules.problems.push(`${at} has no responses`)
  for (const [code, response] of responses) {
    if (!/^[1-5]\d\d$/.test(code)) rules.problems.push(`${at} has the invalid status ${code}`)
    const contentMember = rules.version === 2 ? 'schema' : 'content'
    checkMembers(rules, response as Json, {
      allowed: new Set(['description', contentMember]),
      required: ['description'],
      at: `${at} ${code}`,
    })
    checkContent(rules, (response as Json)[contentMember], `${at} ${code}`)
  }
  const body = operation['requestBody'] as Json | undefined
  if (body === undefined) return
  checkMembers(rules, body, { allowed: setOf('description content required'), required: ['content'], at: `${at} body` })
  checkContent(rules, body['content'], `${at} body`)
}

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
  const location = parameter['in']
  const where = `${at} ${parameter['name']}`
  const typed = setOf('name in description required type uniqueItems')
  const schemed = setOf('name in description required schema')
  const hasSchema = rules.version === 3 || location === 'body'
  checkMembers(rules, parameter, {
    allowed: hasSchema ? schemed : typed,
    required: ['name', 'in', hasSchema ? 'schema' : 'type'],
    at: where,
  })
  if (!setOf(rules.version === 2 ? 'path query body' : 'path query').has(String(location)))
    rules.problems.push(`${where} is in ${location}`)
  if (location === 'path' && parameter['required'] !== true) rules.problems.push(`${where} is not required`)
  if (hasSchema) checkSchema(rules, parameter['schema'] as Json, where)
}
