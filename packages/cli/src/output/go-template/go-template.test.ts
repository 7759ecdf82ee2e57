// Go templates: output and errors; expected values were printed by kubectl v1.27.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoTemplate } from './parse.js'
import { fillGoTemplate } from './run.js'

const object = {
  kind: 'Deployment',
  metadata: { name: 'prices', labels: { app: 'shop' }, gone: null },
  spec: { replicas: 2, share: 0.5 },
  data: { apple: '3', pear: '12', coded: 'Yg==' },
  items: [{ name: 'a' }, { name: 'b' }],
}
const fill = (text: string, allowsMissing = true): string => fillGoTemplate(parseGoTemplate(text), object, { allowsMissing })

test('output of templates', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{{.metadata.name}} {{.spec.replicas}} {{.spec.share}}', 'prices 2 0.5'],
    ['{{.nope}} {{.nope.x}} {{.metadata.gone}}', '<no value> <no value> <no value>'],
    ['{{.metadata.labels}} {{.items}}', 'map[app:shop] [map[name:a] map[name:b]]'],
    ['{{range .items}}{{.name}}{{"\\n"}}{{end}}', 'a\nb\n'],
    ['{{range $i, $e := .items}}{{$i}}={{$e.name}} {{end}}', '0=a 1=b '],
    ['{{range $k, $v := .metadata.labels}}{{$k}}={{$v}}{{end}}', 'app=shop'],
    ['{{range .nope}}x{{else}}empty{{end}}', 'empty'],
    ['{{range .items}}{{if eq .name "a"}}{{continue}}{{end}}{{.name}}{{break}}{{end}}', 'b'],
    ['{{if .data.nope}}yes{{else if eq .data.apple "3"}}three{{else}}no{{end}}', 'three'],
    ['{{with .data}}{{.apple}}{{$.kind}}{{end}}{{with .nope}}x{{else}}none{{end}}', '3Deploymentnone'],
    ['{{with $x := .data}}{{$x.pear}}{{end}}', '12'],
    ['{{index .data "apple"}} {{len .data}} {{len .metadata.name}} {{(index .items 1).name}} {{index .items 0 "name"}}', '3 3 6 b a'],
    ['{{$n := "x"}}{{range .items}}{{$n = .name}}{{end}}{{$n}}', 'b'],
    ['a {{- " b " -}} c {{/* note */}} d {{- /* x */ -}} e', 'a b c  de'],
    ['{{.data.coded | base64decode}} {{base64decode .data.coded | printf "%q"}}', 'b "b"'],
    ['{{if and .kind (not .nope)}}A{{end}} {{and 1 0}} {{or 0 "x"}} {{not 0}}', 'A 0 x true'],
    [
      '{{eq .data.apple "4" "3"}} {{ne 1 1}} {{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge "b" "a"}} {{eq .spec.replicas 2}}',
      'true false true true false true true',
    ],
    ['{{print "a" 1 2 "b" "c"}}|{{println "x" 1}}|{{html "<a&b>"}}|{{urlquery "a b&c"}}', 'a1 2bc|x 1\n|&lt;a&amp;b&gt;|a+b%26c'],
    ['{{define "T"}}[{{.}}]{{end}}{{template "T" .data.apple}}{{block "B" .data}}{{.pear}}{{end}}', '[3]12'],
    ['{{slice .metadata.name 1 3}} {{exists .data "apple"}} {{exists .data "nope" 1}}', 'ri true false'],
    ['{{`raw "x"`}} {{"\\u00e9\\x41"}} {{0x10}} {{1_000}} {{1e6}} {{1e5}}', 'raw "x" éA 16 1000 1e+06 100000'],
    [
      '{{printf "%d|%-5s|%5s|%05d|%8.3f|%v|%%|%t" .spec.replicas "a" "b" 42 1.5 .items true}}',
      '2|a    |    b|00042|   1.500|[map[name:a] map[name:b]]|%|true',
    ],
    ['{{printf "%s %d" 3}}{{printf "a" "b"}}', '%!s(int64=3) %!d(MISSING)a%!(EXTRA string=b)'],
    ['{{.metadata.labels.app | printf "%s-%s" "x" | len}}', '6'],
  ]
  for (const [template, text] of cases) assert.equal(fill(template), text, template)
})

test('errors of templates', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['\n{{.a', /output:2: unclosed action/],
    ['{{nofunc 1}}', /function "nofunc" not defined/],
    ['{{end}}', /unexpected \{\{end\}\}/],
    ['{{if .x}}', /unexpected EOF/],
    ['{{$x}}', /undefined variable "\$x"/],
    ['{{break}}', /outside \{\{range\}\}/],
    ['{{}}', /missing value for command/],
    ['{{(.a}}', /unclosed left paren/],
    ['{{"a}}', /unterminated quoted string/],
    ['{{.kind.x}}', /can't evaluate field x in type interface/],
    ['{{index .items 7}}', /error calling index: index out of range: 7/],
    ['{{eq .spec.replicas 2.0}}', /error calling eq: incompatible types for comparison/],
    ['{{range .kind}}{{end}}', /range can't iterate over Deployment/],
    ['{{nil}}', /nil is not a command/],
    ['{{len}}', /wrong number of args for len: want 1 got 0/],
    ['{{define "T"}}{{template "T"}}{{end}}{{template "T"}}', /exceeded maximum template depth/],
    ['{{template "none"}}', /template "none" not defined/],
  ]
  for (const [template, message] of cases) assert.throws(() => fill(template), message, template)
  assert.throws(() => fill('{{.data.nope}}', false), /map has no entry for key "nope"/)
})
