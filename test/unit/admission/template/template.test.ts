// The engine on templates of its own: Go's actions, and what happens at the edges of nil, types and limits.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEMPLATE_LIMITS } from '../../../../src/admission/template/limits.ts';
import { parseTemplate, runTemplate } from '../../../../src/admission/template/template.ts';
import type { Value } from '../../../../src/admission/template/value.ts';
import { StructView } from '../../../../src/admission/template/views.ts';

function rendered(text: string, data: Value = {}, limits = TEMPLATE_LIMITS): string {
  const parsed = parseTemplate(text);
  if (parsed._tag === 'Left') return `parse: ${parsed.left}`;
  const run = runTemplate(parsed.right, data, limits);
  return run._tag === 'Left' ? `run: ${run.left}` : run.right;
}

describe('A template', () => {
  it.each([
    ['trims around markers', 'a \n{{- 1 -}}\n b', 'a1b'],
    ['drops comments', 'a{{- /* {{ no }} */ -}} b', 'ab'],
    ['ranges over maps by sorted key', '{{range $k, $v := .m}}{{$k}}={{$v}};{{end}}', 'a=1;b=2;'],
    ['assigns a variable of an outer block', '{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}', '2'],
    ['keeps a declaration inside its block', '{{$x := 1}}{{if true}}{{$x := 2}}{{end}}{{$x}}', '1'],
    ['chooses the else if', '{{if .no}}a{{else if .m}}b{{else}}c{{end}}', 'b'],
    ['gives with its value as dot, and $ the data', '{{with .m.a}}{{.}}{{$.m.b}}{{end}}', '12'],
    ['leaves a loop at break', '{{range .l}}{{if eq . "y"}}{{break}}{{end}}{{.}}{{end}}', 'x'],
    ['runs the else of an empty range', '{{range .none}}x{{else}}empty{{end}}', 'empty'],
    ['calls a defined template with its own dot', '{{define "t"}}[{{.}}]{{end}}{{template "t" .m.a}}', '[1]'],
    [
      'reads a field of a group in parentheses',
      '{{(index .l 0 | list "a").b}}',
      "run: line 1: can't evaluate field b in type []interface {}",
    ],
    ['prints an absent member, and what is behind it, as no value', '{{.x}} {{.x.y.z}}', '<no value> <no value>'],
    ['refuses a field of a null', '{{.null.x}}', 'run: line 1: nil pointer evaluating interface {}.x'],
    ['takes a null in parentheses for absent', '{{(.null).x}}', '<no value>'],
    ['passes the value of a pipe as the last argument', '{{"b" | printf "%s%s" "a"}}', 'ab'],
    ['stops at the operand that decides', '{{or 1 (fail "no")}}{{and 0 (fail "no")}}', '10'],
    ['prints large whole floats with an exponent, as Go does', '{{.big}} {{.small}}', '1.5e+06 15020'],
  ])('%s', (_, text, expected) => {
    const data = { m: { b: 2, a: 1 }, l: ['x', 'y', 'z'], null: null, big: 1_500_000, small: 15_020 };
    expect(rendered(text, data)).toBe(expected);
  });

  it.each([
    ['an unknown function', 'a\n{{ nothing 1 }}', 'parse: line 2: function "nothing" not defined'],
    ['an unknown variable', '{{ $x }}', 'parse: line 1: undefined variable "$x"'],
    ['a block without end', '{{ if true }}\n', 'parse: line 1: {{if}} of line 1 has no {{end}}'],
    ['an unclosed action', '{{ 1', 'parse: line 1: unclosed action'],
    [
      'a comparison of a text and a boolean',
      '{{ eq "true" true }}',
      'run: line 1: error calling eq: incompatible types for comparison',
    ],
    [
      'a wrong number of arguments',
      '{{ trunc 3 }}',
      'run: line 1: error calling trunc: wrong number of args: want 2 got 1',
    ],
    ['an undefined template', '{{ template "x" }}', 'run: template "x" not defined'],
  ])('refuses %s with its line', (_, text, expected) => {
    expect(rendered(text)).toBe(expected);
  });

  it('reads fields of a struct by their Go names, and the zero value where there is none', () => {
    const pod = new StructView({
      dnsPolicy: 'Default',
      hostNetwork: false,
      containers: [{ name: 'a', ports: [{ containerPort: 80 }] }],
    });
    expect(rendered('{{.DNSPolicy}} {{(index (index .Containers 0).Ports 0).ContainerPort}}', pod)).toBe('Default 80');
    expect(
      rendered('{{eq .ServiceAccountName ""}}{{.SecurityContext.RunAsUser}}{{index .NodeSelector "x"}}|', pod),
    ).toBe('true|');
    expect(rendered('{{.GetDnsPolicy}}{{if .GetTracing.GetTlsSettings}}tls{{end}}', pod)).toBe('Default');
  });
});

describe('A hostile template', () => {
  it.each([
    ['loops', '{{range until 1000000}}{{range until 1000000}}{{end}}{{end}}', /steps|characters/],
    [
      'doubles a text',
      '{{$x := "xxxxxxxxxx"}}{{range until 40}}{{$x = printf "%s%s" $x $x}}{{end}}',
      /makes more than/,
    ],
    ['repeats a text', '{{repeat 100000000 "x"}}', /makes more than/],
    ['calls itself', '{{define "t"}}{{template "t"}}{{end}}{{template "t"}}', /templates deep/],
    ['nests parentheses', `{{${'('.repeat(5_000)}1${')'.repeat(5_000)}}}`, /nested more than/],
    ['writes much', '{{$x := repeat 100000 "x"}}{{range until 100}}{{$x}}{{end}}', /writes more than|makes more than/],
    ['grows a list by itself', '{{$x := list 1 2}}{{range until 60}}{{$x = concat $x $x}}{{end}}', /makes more than/],
    [
      'puts a list into itself twice',
      '{{$x := list 1}}{{range until 60}}{{$x = list $x $x}}{{end}}{{toJson $x}}',
      /makes/,
    ],
    ['prints a list of lists of lists', '{{$x := list 1}}{{range until 60}}{{$x = list $x $x}}{{end}}{{$x}}', /makes/],
    [
      'nests a list in itself',
      '{{$x := list}}{{range until 50000}}{{$x = list $x}}{{end}}',
      /nested more than|steps|makes/,
    ],
    [
      'searches a long list again and again',
      '{{$x := until 100000}}{{range $x}}{{has 5 $x}}{{end}}',
      /makes more than/,
    ],
    [
      'searches a long text again and again',
      '{{$x := repeat 100000 "x"}}{{range until 5000}}{{contains "y" $x}}{{end}}',
      /makes more than/,
    ],
    ['changes the data', '{{set .m "a" 2}}', /did not make/],
  ])('that %s ends with an error', (_, text, expected) => {
    expect(rendered(text, { m: { a: 1 } })).toMatch(expected);
  });

  it('ends in an output or an error, whatever its text is', () => {
    const word = fc.constantFrom(
      ...'{{ }} {{- -}} if else end range with define template $x := = | ( ) . .a "t" 1 nil true index printf dict list set $ , `q` /* */ toYaml until eq and'.split(
        ' ',
      ),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), words => {
        const small = { steps: 500, outputChars: 500, madeChars: 5_000, depth: 5 };
        expect(typeof rendered(words.join(' '), { a: { a: null } }, small)).toBe('string');
      }),
      { numRuns: 500 },
    );
  });

  it('takes time linear in blanks', () => {
    const before = process.cpuUsage();
    expect(rendered(`${' '.repeat(400_000)}{{- 1 -}}`)).toBe('1');
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});
