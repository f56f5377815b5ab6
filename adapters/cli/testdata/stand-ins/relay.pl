# SPDX-License-Identifier: Apache-2.0
# A host that executes nothing itself: it passes every frame to the real host, which is pinned in the
# same tool directory, and lets `bend` of the including script change what comes back. Identities
# are computed anew here, so that a bent frame is well-formed and only its content is wrong.
use strict;
use warnings;
use IPC::Open2;

my $M = 0xffffffff;
my @IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19);
my @PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8);

sub rotate { my ($x, $n) = @_; return (($x >> $n) | ($x << (32 - $n))) & $M; }

sub mix {
    my ($v, $a, $b, $c, $d, $x, $y) = @_;
    $v->[$a] = ($v->[$a] + $v->[$b] + $x) & $M;
    $v->[$d] = rotate($v->[$d] ^ $v->[$a], 16);
    $v->[$c] = ($v->[$c] + $v->[$d]) & $M;
    $v->[$b] = rotate($v->[$b] ^ $v->[$c], 12);
    $v->[$a] = ($v->[$a] + $v->[$b] + $y) & $M;
    $v->[$d] = rotate($v->[$d] ^ $v->[$a], 8);
    $v->[$c] = ($v->[$c] + $v->[$d]) & $M;
    $v->[$b] = rotate($v->[$b] ^ $v->[$c], 7);
}

sub compress {
    my ($chain, $words, $counter, $length, $flags) = @_;
    my @m = @$words;
    my @v = (@$chain, @IV[0 .. 3], $counter & $M, ($counter >> 32) & $M, $length, $flags);
    for my $round (1 .. 7) {
        mix(\@v, 0, 4, 8,  12, $m[0],  $m[1]);
        mix(\@v, 1, 5, 9,  13, $m[2],  $m[3]);
        mix(\@v, 2, 6, 10, 14, $m[4],  $m[5]);
        mix(\@v, 3, 7, 11, 15, $m[6],  $m[7]);
        mix(\@v, 0, 5, 10, 15, $m[8],  $m[9]);
        mix(\@v, 1, 6, 11, 12, $m[10], $m[11]);
        mix(\@v, 2, 7, 8,  13, $m[12], $m[13]);
        mix(\@v, 3, 4, 9,  14, $m[14], $m[15]);
        @m = @m[@PERMUTATION];
    }
    return map { $v[$_] ^ $v[$_ + 8] } 0 .. 7;
}

# The last compression of a subtree, not yet made: the caller knows whether it is the root.
sub node {
    my ($key, $bytes, $counter, $flags) = @_;
    if (length $bytes <= 1024) {
        my @blocks = length $bytes ? unpack('(a64)*', $bytes) : ('');
        my @chain = @$key;
        for my $i (0 .. $#blocks) {
            my $f = $flags | ($i == 0 ? 1 : 0) | ($i == $#blocks ? 2 : 0);
            my @words = unpack('V16', $blocks[$i] . "\0" x (64 - length $blocks[$i]));
            return [[@chain], \@words, $counter, length $blocks[$i], $f] if $i == $#blocks;
            @chain = compress(\@chain, \@words, $counter, 64, $f);
        }
    }
    my $left = 1024;
    $left *= 2 while $left * 2 < length $bytes;
    my @words = (
        compress(@{ node($key, substr($bytes, 0, $left), $counter, $flags) }),
        compress(@{ node($key, substr($bytes, $left), $counter + $left / 1024, $flags) }));
    return [[@$key], \@words, 0, 64, $flags | 4];
}

sub blake3 {
    my ($key, $bytes, $flags) = @_;
    my $last = node($key, $bytes, 0, $flags);
    $last->[4] |= 8;
    return pack('V8', compress(@$last));
}

sub derive {
    my ($context, $bytes) = @_;
    return blake3([unpack('V8', blake3(\@IV, $context, 32))], $bytes, 64);
}

# Canonical CBOR: maps are lists of pairs in the order that was read, so encoding gives the same bytes.
sub decode {
    my ($in) = @_;
    my $head = unpack('C', substr($$in, 0, 1, ''));
    my ($major, $n) = ($head >> 5, $head & 31);
    return [simple => $n] if $major == 7;
    $n = unpack('C',  substr($$in, 0, 1, '')) if $n == 24;
    $n = unpack('n',  substr($$in, 0, 2, '')) if ($head & 31) == 25;
    $n = unpack('N',  substr($$in, 0, 4, '')) if ($head & 31) == 26;
    $n = unpack('Q>', substr($$in, 0, 8, '')) if ($head & 31) == 27;
    return [unsigned => $n] if $major == 0;
    return [negative => $n] if $major == 1;
    return [bytes => substr($$in, 0, $n, '')] if $major == 2;
    return [text => substr($$in, 0, $n, '')] if $major == 3;
    return [array => [map { decode($in) } 1 .. $n]] if $major == 4;
    return [map => [map { [decode($in), decode($in)] } 1 .. $n]];
}

sub head {
    my ($major, $n) = @_;
    $major <<= 5;
    return pack('C', $major | $n) if $n < 24;
    return pack('CC', $major | 24, $n) if $n < 0x100;
    return pack('Cn', $major | 25, $n) if $n < 0x10000;
    return pack('CN', $major | 26, $n) if $n <= $M;
    return pack('CQ>', $major | 27, $n);
}

sub encode {
    my ($item) = @_;
    my ($kind, $value) = @$item;
    return pack('C', 0xe0 | $value) if $kind eq 'simple';
    return head(0, $value) if $kind eq 'unsigned';
    return head(1, $value) if $kind eq 'negative';
    return head(2, length $value) . $value if $kind eq 'bytes';
    return head(3, length $value) . $value if $kind eq 'text';
    return head(4, scalar @$value) . join('', map { encode($_) } @$value) if $kind eq 'array';
    return head(5, scalar @$value) . join('', map { encode($_->[0]) . encode($_->[1]) } @$value);
}

# The pair of a member of a map, by name; assigning to its second place changes the map.
sub member {
    my ($map, $name) = @_;
    for my $pair (@{ $map->[1] }) { return $pair if $pair->[0][1] eq $name; }
    die "no member $name";
}

sub parse { my ($bytes) = @_; return decode(\$bytes); }
sub typed { my ($domain, $bytes) = @_; return [array => [[text => $domain], [text => 'blake3'], [bytes => derive($domain, $bytes)]]]; }

# The body of an outcome whose record, result and receipt are changed by three functions, with every
# digest between them recomputed.
sub rewrite {
    my ($body, $record, $result, $receipt) = @_;
    my $outcome = parse($body);
    my $bytes = $result->(member($outcome, 'body')->[1][1]);
    my $item = parse(member($outcome, 'record')->[1][1]);
    my $stated = member($item, 'outcome')->[1];
    member($stated, 'body')->[1] = typed('echo/body/v1', $bytes);
    member($stated, 'length')->[1] = [unsigned => length $bytes];
    member(member($item, 'consumed')->[1], 'outputBytes')->[1] = [unsigned => length $bytes];
    $record->($item);
    my $evidence = encode($item);
    my $signed = parse(member($outcome, 'receipt')->[1][1]);
    my $abi = member($item, 'abi')->[1][1];
    $abi =~ s/^echo\.(.*)$/echo\/$1/;
    member($signed, 'execution')->[1] = typed($abi, $evidence);
    $receipt->($signed);
    member($outcome, 'body')->[1] = [bytes => $bytes];
    member($outcome, 'record')->[1] = [bytes => $evidence];
    member($outcome, 'receipt')->[1] = [bytes => encode($signed)];
    return encode($outcome);
}

sub same { return $_[0]; }
sub none { }

sub frame {
    my ($kind, $sequence, $body) = @_;
    my $bytes = "\x89ECH" . pack('nnQ>N', 1, $kind, $sequence, length $body) . $body;
    return $bytes . derive('echo/frame/v1', $bytes);
}

sub take {
    my ($from, $length) = @_;
    my $bytes = '';
    while (length $bytes < $length) {
        my $got = sysread($from, $bytes, $length - length $bytes, length $bytes);
        return undef unless $got;
    }
    return $bytes;
}

sub give {
    my ($to, $bytes) = @_;
    while (length $bytes) {
        my $put = syswrite($to, $bytes) or exit 3;
        substr($bytes, 0, $put, '');
    }
}

# Kind, sequence and body of the next frame, and its bytes.
sub next_frame {
    my ($from) = @_;
    my $header = take($from, 20) // return;
    my ($kind, $sequence, $length) = unpack('x6nQ>N', $header);
    my $rest = take($from, $length + 32) // return;
    return ($kind, $sequence, substr($rest, 0, $length), $header . $rest);
}

# Passes requests through `ask` and replies through `bend`: (kind, how many of this kind came, sequence,
# body, bytes) to bytes.
sub relay {
    my ($ask, $bend) = @_;
    binmode STDIN;
    binmode STDOUT;
    my $real = ($0 =~ s/[^\/]*$/lowerer/r);
    my $pid = open2(my $from, my $to, $real, @ARGV);
    binmode $from;
    binmode $to;
    my (%asked, %answered);
    while (my ($kind, $sequence, $body, $bytes) = next_frame(\*STDIN)) {
        give($to, $ask->($kind, ++$asked{$kind}, $sequence, $body, $bytes));
        my ($reply, $number, $content, $all) = next_frame($from) or last;
        give(\*STDOUT, $bend->($reply, ++$answered{$reply}, $number, $content, $all));
        last if $reply == 0x8009;
    }
    close $to;
    waitpid($pid, 0);
    exit($? >> 8);
}

sub unchanged { return $_[4]; }
1;
