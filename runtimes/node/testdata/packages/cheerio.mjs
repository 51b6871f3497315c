import * as cheerio from 'cheerio';

const html = `<!doctype html><html lang="en"><head><title>T &amp; t</title><meta charset="utf-8"></head>
<body class="a b"><!-- note --><div id="main" data-n="5" data-o='{"k":[1]}'><h1>Head<br>line</h1>
<ul><li class="x">One</li><li>Two <b>bold</b><li class="x last">Three ü 😀</ul>
<table><tr><td>1<td>2<tr><td colspan=2>3</table>
<form><input name="q" value="v&quot;w"><input type="checkbox" name="c" checked><select name="s"><option>a<option selected value="b">B</select><textarea name="t">text</textarea></form>
<p>para <a href="/rel?a=1&b=2">link</a> <a href="https://e.com">two</a></p><script>if (a < b) {}</script></div></body></html>`;

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  const $ = cheerio.load(html, { baseURI: 'https://example.com/dir/' });
  console.log($.html());
  show('text', [$('title').text(), $('h1').text(), $('li').map((i, el) => $(el).text().trim()).get()]);
  show('attr', [$('html').attr('lang'), $('#main').data('n'), $('#main').data('o'), $('a').first().prop('href'), $('input').val(), $('select').val()]);
  show('selectors', ['li:nth-child(2)', 'li.x', 'ul > li:last-child', 'a[href^="https"]', 'li:not(.x)', 'p a:contains("two")', 'td[colspan]', ':has(> b)', 'input:checked', 'h1 + ul', 'li:eq(1)', 'body *:first', 'li:is(.last, .none)'].map((s) => [s, $(s).length, $(s).first().prop('tagName')]));
  show('traverse', [$('b').closest('ul').length, $('b').parents().map((i, el) => el.tagName).get(), $('li').eq(1).next().text(), $('li').last().prevAll().length, $('h1').siblings().length, $('li').filter((i, el) => $(el).hasClass('last')).index(), $('p').contents().length, $('ul').find('b').end().children().length]);
  show('serialize', [$('form').serialize(), $('form').serializeArray()]);
  $('ul').addClass('list').append('<li>Four &lt;</li>').prepend($('<li/>').text('<Zero>'));
  $('li.x').removeClass('x').attr({ title: 'a "b"', 'data-i': 1 }).first().before('<li>between</li>');
  $('b').replaceWith((i, el) => `<i>${$(el).html()}</i>`);
  $('p').wrap('<section></section>').css('color', 'red').css({ 'margin-top': '1px' });
  $('table, script').remove();
  $('li').each((i, el) => { if (i === 2) return false; $(el).toggleClass('seen'); });
  console.log($('#main').html());
  console.log($.text($('section')));
  const xml = cheerio.load('<?xml version="1.0"?><r xmlns:a="u"><a:i k="1"/><I><![CDATA[<x>]]></I></r>', { xml: true });
  console.log(xml.xml(), xml('a\\:i').attr('k'), xml('I').text());
  const part = cheerio.load('<td>x</td> & <p>un<p>closed', null, false);
  console.log(part.html());
  show('extract', $.extract({ title: 'title', items: ['li'], links: [{ selector: 'a', value: 'href' }] }));
  const buffered = cheerio.loadBuffer(Buffer.concat([Buffer.from('<meta charset="windows-1252"><p>caf'), Buffer.from([0xe9])]));
  console.log(buffered('p').text());
  const chunks = await new Promise((done, fail) => {
    const stream = cheerio.stringStream({}, (err, $) => (err ? fail(err) : done($('p').map((i, el) => $(el).text()).get())));
    stream.write('<p>fir');
    stream.write('st</p><p>sec');
    stream.end('ond</p>');
  });
  show('stream', chunks);
  show('dom', $('section')[0].children[0].attribs);
}
